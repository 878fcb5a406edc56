/** The second argument of `app.fetch`: a `Connection`, the object that a runtime passes, or the context of a Worker. */
import { App, Log, Path, Returns, after, body, get, peer, post } from "usher-http";
import { expect, it } from "vitest";

Log.setup({ level: "error" });
const app = App.make([get(Path.root, { inputs: { peer }, returns: Returns.text }, ({ peer }) => `(${peer})`)]);
const request = () => new Request("http://localhost/");

class BunServer {
  readonly address = { address: "192.0.2.1", port: 8080 };
  readonly pendingRequests = 1;
  requestIP() {
    return { address: "192.0.2.1", family: "IPv4", port: 1234 };
  }
}
const raising = new Proxy(
  {},
  {
    get() {
      throw new Error("no such binding");
    },
  },
);

it.each<readonly [string, object, string]>([
  ["a connection", { peer: "192.0.2.1" }, "192.0.2.1"],
  ["a connection by a name of its own", { peer: "desk-4" }, "desk-4"],
  ["a connection with more", { peer: "192.0.2.1", port: 1234 }, "192.0.2.1"],
  [
    "a connection of a class",
    new (class {
      readonly peer = "192.0.2.1";
    })(),
    "192.0.2.1",
  ],
  [
    "Deno's info",
    { remoteAddr: { transport: "tcp", hostname: "192.0.2.1", port: 1 }, completed: Promise.resolve() },
    "",
  ],
  ["Bun's server", new BunServer(), ""],
  ["a Worker's env", { DB: { prepare() {} }, KEY: "secret" }, ""],
  ["a Worker's env with a variable named peer", { DB: {}, peer: "orders-eu" }, ""],
  ["the context of Next.js", { params: Promise.resolve({ id: "1" }) }, ""],
  ["a peer that is no text", { peer: { address: "192.0.2.1" } }, ""],
  ["an object that raises", raising, ""],
  ["an object without a prototype", Object.create(null) as object, ""],
])("app.fetch takes the client's address from %s", async (_name, given, expected) => {
  const response = await app.fetch(request(), given);
  expect([response.status, await response.text()]).toEqual([200, `(${expected})`]);
});

it.each(["GET", "POST"])(
  "waitUntil of a Worker's context keeps a %s until it is answered, and no longer",
  async (method) => {
    const read = post(Path.root, { inputs: { body }, returns: Returns.text }, ({ body }) => `${body.length}`);
    const kept: Promise<unknown>[] = [];
    const waitUntil = (work: Promise<unknown>): void => void kept.push(work);
    const asked = new Request("http://localhost/", method === "GET" ? { method } : { method, body: "text" });
    const { fetch } = App.make([get(Path.root, { returns: Returns.text }, async () => "4"), read]);
    expect(await (await fetch(asked, {}, { waitUntil })).text()).toBe("4");
    expect(await Promise.all(kept)).toHaveLength(1);
  },
);

it("waitUntil of a Worker's context sends the spans of a request after its answer, and again after its `after` tasks", async () => {
  const log: string[] = [];
  const done = async (): Promise<void> => {};
  const trace = { tracer: { open: () => undefined }, flush: async () => void log.push("flushed"), shutdown: done };
  const inputs = { after };
  const route = get(Path.root, { inputs, returns: Returns.text }, ({ after }) => {
    after(() => void log.push("worked"));
    log.push("answered");
    return "x";
  });
  const kept: Promise<unknown>[] = [];
  const waitUntil = (work: Promise<unknown>): void => void kept.push(work);
  const { fetch } = App.make([route], { trace });
  expect(await (await fetch(request(), {}, { waitUntil })).text()).toBe("x");
  expect(await Promise.all(kept)).toHaveLength(2);
  expect([log[0], log.at(-1), log.filter((one) => one === "flushed")]).toEqual([
    "answered",
    "flushed",
    ["flushed", "flushed"],
  ]);
  expect(log.indexOf("worked")).toBeLessThan(log.lastIndexOf("flushed"));
});

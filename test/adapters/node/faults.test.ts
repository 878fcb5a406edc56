import { waitMs } from "../../support/patience.ts";
/**
 * Clients that misbehave, many of them and repeatedly (issue 4): after each, the server's connections, its memory and
 * its body budget are as before, and it answers.
 */
import { describe, expect, it, vi } from "vitest";
import { Answer, Path, Returns, body, bodyStream, clientGone, get, post } from "usher-http";
import { logWith } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient, leaveAll } from "../../support/raw-client.ts";
import { eventually } from "../../support/eventually.ts";
import { keepsNothing, sockets, turn } from "../../support/memory.ts";

const never = () => new Promise<string>(() => {});

const budget = 100_000;
const limits = {
  headTimeoutMs: 100,
  bodyTimeoutMs: 100,
  minBodyRate: 1_000_000,
  sendTimeoutMs: 100,
  maxBody: budget,
  bodyBudget: budget,
};
async function* endless() {
  for (;;) {
    await turn();
    yield Buffer.alloc(65_536);
  }
}
const routes = [
  get(Path.of("ok"), { returns: Returns.text }, () => "ok"),
  get(Path.of("later"), { returns: Returns.text }, async () => (await turn(), "later")),
  get(Path.of("never"), { returns: Returns.text }, never),
  get(Path.of("waits"), { inputs: { clientGone }, returns: Returns.text }, ({ clientGone }) => {
    return new Promise<string>((resolve) => clientGone.addEventListener("abort", () => resolve("gone")));
  }),
  get(Path.of("big"), { returns: Returns.response }, () => Answer.make(Buffer.alloc(8 * 1024 * 1024))),
  get(Path.of("endless"), { returns: Returns.response }, () => Answer.stream(endless())),
  get(Path.of("quiet"), { returns: Returns.response }, () => Answer.stream(new ReadableStream<Uint8Array>())),
  post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => String(body.byteLength)),
  post(
    Path.of("parts"),
    { inputs: { upload: bodyStream({ max: 1 << 30 }) }, returns: Returns.text },
    async ({ upload }) => {
      let bytes = 0;
      for await (const part of upload) bytes += part.byteLength;
      return String(bytes);
    },
  ),
  post(Path.of("ignores"), { returns: Returns.text }, () => "ignored"),
];

const posts = (path: string, ...lines: readonly string[]) => [`POST ${path} HTTP/1.1`, "host: h", ...lines, "", ""];
const chunked = "transfer-encoding: chunked";

/** The actions of one client; it ends when the bytes that it waits for have arrived. */
const faults: { readonly [what: string]: (client: RawClient) => Promise<unknown> } = {
  "a head that never ends": (client) => client.send("GET /ok HTTP/1.1", "x: ").closed(),
  "a byte that is no head": (client) => client.send("\u0000").closed(),
  "a body that stops": (client) => client.send(...posts("/size", "content-length: 90000"), "abc").closed(),
  "chunks that stop": (client) => client.send(...posts("/size", chunked), "5", "hello", "").closed(),
  "parts that stop": (client) => client.send(...posts("/parts", chunked), "5", "hello", "").closed(),
  "a client that goes in the middle of its body": async (client) => {
    client.send(...posts("/size", "content-length: 90000"), "x".repeat(1000));
    await turn();
    client.leave();
  },
  "a client that goes in the middle of its parts": async (client) => {
    client.send(...posts("/parts", "content-length: 90000"), "x".repeat(1000));
    await turn();
    client.leave();
  },
  "a length that is more than there is": (client) =>
    client
      .send(...posts("/size", "content-length: 10"), "abc")
      .halfClose()
      .closed(),
  "a length that is less than there is": (client) =>
    client.send(...posts("/size", "content-length: 3"), "abcdef", "", "").closed(),
  "chunks that are none": (client) => client.send(...posts("/size", chunked), "zz", "", "").closed(),
  "a body past the limit": (client) => client.ask("POST /size", [], "x".repeat(budget + 70_000)).closed(),
  "a body past the limit that never ends": (client) =>
    client.send(...posts("/size", chunked), "fffff", "x".repeat(200_000)).closed(),
  "two framings": (client) => client.send(...posts("/size", "content-length: 3", chunked), "0", "", "").closed(),
  "a body that nobody reads": (client) => client.ask("POST /ignores", [], "x".repeat(200_000)).closed(),
  "a hundred requests at once, and gone": async (client) => {
    for (let i = 0; i < 100; i++) client.ask(i % 2 === 0 ? "GET /ok" : "GET /later");
    await client.answer();
    client.leave();
  },
  "a hundred requests behind one that is never answered, and gone": async (client) => {
    client.ask("GET /never");
    for (let i = 0; i < 100; i++) client.ask(i % 2 === 0 ? "GET /ok" : "GET /later");
    await turn();
    client.leave();
  },
  "an answer that is not waited for": async (client) => {
    client.ask("GET /never");
    await turn();
    client.leave();
  },
  "an answer that is not waited for, with a handler that hears of it": async (client) => {
    client.ask("GET /waits");
    await turn();
    client.close();
  },
  "an end behind a request": (client) => client.ask("GET /later").halfClose().closed(),
  "an end behind a request that is never answered": (client) => client.ask("GET /never").halfClose().closed(),
  "an end behind a stream that is quiet": (client) => client.ask("GET /quiet").halfClose().closed(),
  "an answer of which nothing is taken": async (client) => {
    client.socket.pause();
    client.ask("GET /big");
    await new Promise((resolve) => setTimeout(resolve, 300));
  },
  "a stream of which nothing is taken": async (client) => {
    client.socket.pause();
    client.ask("GET /endless");
    await new Promise((resolve) => setTimeout(resolve, 300));
  },
  "a stream that is left": async (client) => {
    client.ask("GET /endless");
    await client.sees("10000\r\n");
    client.leave();
  },
  "an upgrade to what is not spoken": async (client) => {
    await client.ask("GET /ok", ["connection: upgrade", "upgrade: h2c"]).answer();
  },
  CONNECT: (client) => client.send("CONNECT h:443 HTTP/1.1", "host: h", "", "").closed(),
};

describe("clients that misbehave leave nothing behind", () => {
  it.each(Object.entries(faults))("%s", async (_what, act) => {
    logWith({ level: undefined });
    await eventually(() => expect(sockets()).toBe(0));
    const { port } = await start(routes, limits);
    const round = async () => {
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const client = await RawClient.to(port);
          await act(client);
        }),
      );
      leaveAll();
      await vi.waitFor(() => expect(sockets()).toBe(0), { timeout: waitMs() });
    };
    await keepsNothing(round);

    const client = await RawClient.to(port);
    expect((await client.ask("POST /size", [], "x".repeat(budget)).answer()).body).toBe(String(budget));
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });
});

it("handlers that never answer block no other request", async () => {
  logWith({ level: undefined });
  const { port } = await start(routes, { ...limits, maxConnections: 300 });
  const stuck = await Promise.all(Array.from({ length: 200 }, () => RawClient.to(port)));
  for (const client of stuck) client.ask("GET /never").ask("GET /ok");
  const client = await RawClient.to(port);
  for (let i = 0; i < 10; i++) {
    expect((await client.ask("GET /later").answer()).body).toBe("later");
    expect((await client.ask("POST /size", [], "x".repeat(budget)).answer()).body).toBe(String(budget));
  }
});

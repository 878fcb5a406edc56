/** Addresses and ports of a server, and errors of `listen` (facts 8.1; rows SV-01, SV-03, SV-04). */
import { Server as NetServer, createServer } from "node:net";
import type { AddressInfo, Server as Listening } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { App, Path, Returns, get, post, body } from "usher-http";
import { serve } from "usher-http/node";
import type { ServeOptions } from "usher-http/node";
import { messages } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");
const hi = async (port: number, host: string) =>
  (await (await RawClient.to(port, host)).ask("GET /hello").answer()).body;

const taken: Listening[] = [];
afterEach(() => Promise.all(taken.splice(0).map((server) => new Promise((resolve) => server.close(resolve)))));

/** Occupies a port. */
async function take(host: string, port = 0): Promise<number> {
  const server = createServer();
  taken.push(server);
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return (server.address() as AddressInfo).port;
}

describe("the host option", () => {
  it("SV-03 localhost is both loopback addresses, on one port", async () => {
    const server = await start([hello], { host: "localhost" });
    expect(server.url).toBe(`http://localhost:${server.port}`);
    for (const host of ["127.0.0.1", "::1"]) expect(await hi(server.port, host)).toBe("hi");
    expect(messages("info")).toContain(`listening on http://localhost:${server.port} (127.0.0.1 and [::1])`);
  });

  it("localhost has a port that is free at both addresses, when the system chooses it", async () => {
    // The system chooses a port that is free only at the first address.
    const asked: unknown[] = [];
    const { listen } = NetServer.prototype;
    const listens = vi.spyOn(NetServer.prototype, "listen").mockImplementation(function (this: NetServer, ...given) {
      const [where] = given as unknown as [number | { readonly host: string; readonly port: number }];
      if (typeof where === "number") return listen.apply(this, given);
      const { host, port } = where;
      asked.push(host);
      if (asked.length !== 2) return listen.apply(this, given);
      void take(host, port).then(() => listen.apply(this, given));
      return this;
    });
    const server = await start([hello], { host: "localhost" });
    listens.mockRestore();
    expect(asked).toEqual(["127.0.0.1", "::1", "127.0.0.1", "::1"]);
    for (const host of ["127.0.0.1", "::1"]) expect(await hi(server.port, host)).toBe("hi");
  });

  it.each([
    ["127.0.0.1", "http://127.0.0.1", "127.0.0.1", ["127.0.0.1"]],
    ["::1", "http://[::1]", "[::1]", ["::1"]],
  ])("SV-03 %s is that address", async (host, url, bound, reached) => {
    const server = await start([hello], { host });
    expect(server.url).toBe(`${url}:${server.port}`);
    for (const address of reached) expect(await hi(server.port, address)).toBe("hi");
    expect(messages("info")).toContain(`listening on ${server.url} (${bound})`);
    const other = host === "::1" ? "127.0.0.1" : "::1";
    await expect(RawClient.to(server.port, other)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it.each([
    ["::", "[::]"],
    ["0.0.0.0", "0.0.0.0"],
  ])("SV-04 %s is every interface, of both families", async (host, named) => {
    const server = await start([hello], { host });
    expect(server.url).toBe(`http://${named}:${server.port}`);
    for (const address of ["127.0.0.1", "::1"]) expect(await hi(server.port, address)).toBe("hi");
    expect(messages("info")).toContain(`listening on ${server.url} (every interface: [::], which takes IPv4 too)`);
  });

  it("`server.app` is the app that it serves", async () => {
    const server = await start([hello]);
    expect(await (await server.app.fetch(new Request("http://h/hello"))).text()).toBe("hi");
    expect(server.app.routes).toEqual([hello]);
  });

  it("the options of an app apply to its server: a limit, a clock, a not-found answer", async () => {
    const size = post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => String(body.length));
    const options = {
      maxBody: 3,
      now: () => new Date(784_111_777_000),
      notFound: () => new Response("mine", { status: 404 }),
    };
    const server = await start([size], options);
    const client = await RawClient.to(server.port);
    const found = await client.ask("POST /size", [], "abc").answer();
    expect(found.head).toContainEqual(["date", "Sun, 06 Nov 1994 08:49:37 GMT"]);
    expect((await client.ask("GET /nowhere").answer()).body).toBe("mine");
    expect((await client.ask("POST /size", [], "abcd").answer()).status).toBe(413);
  });
});

describe("App.serve rejects, and nothing stays open, when", () => {
  it("the port is in use", async () => {
    const port = await take("127.0.0.1");
    for (const host of ["127.0.0.1", "localhost"]) {
      await expect(serve([hello], { port, host, signals: false })).rejects.toMatchObject({
        code: "EADDRINUSE",
        message: `serve: port ${port} of ${host} is taken: stop the program that has it, or set another one`,
      });
    }
  });

  it("the port is in use at one of the two addresses", async () => {
    const port = await take("::1");
    const signals = process.listenerCount("SIGTERM");
    await expect(serve([hello], { port, host: "localhost" })).rejects.toMatchObject({ code: "EADDRINUSE" });
    await expect(RawClient.to(port, "127.0.0.1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect(process.listenerCount("SIGTERM")).toBe(signals);
  });

  it("SV-01 a declaration is refused", async () => {
    const port = await take("127.0.0.1");
    const said = "App.make: GET /hello and GET /hello could both answer one URL: list it once";
    // If it had tried to listen, the error would be that the port is in use.
    await expect(serve([hello, hello], { port, host: "127.0.0.1" })).rejects.toThrow(said);
    expect(() => App.make([hello, hello])).toThrow(said);
  });

  const times = ["headTimeoutMs", "idleTimeoutMs", "bodyTimeoutMs", "sendTimeoutMs"];
  const counts = ["maxHeaderBytes", "minBodyRate", "maxConnections"];
  const outside: readonly (readonly [option: string, value: number])[] = [
    ...[...times, ...counts].flatMap((option) =>
      [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY].map((value) => [option, value] as const),
    ),
    ...[-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY].map((value) => ["drainMs", value] as const),
    ...[-1, 65_536, 80.5, Number.NaN].map((value) => ["port", value] as const),
  ];
  it.each(outside)("%s is %d", async (option, value) => {
    const options: ServeOptions = { port: 0, signals: false, [option]: value };
    await expect(serve([hello], options)).rejects.toThrow(new RegExp(`^serve: ${option} cannot be ${value}: `));
    await expect(serve([hello], options)).rejects.toThrow(RangeError);
  });

  it("an undefined option has its default", async () => {
    const server = await start([hello], { headTimeoutMs: undefined, maxHeaderBytes: undefined } as never);
    expect(await hi(server.port, "127.0.0.1")).toBe("hi");
  });
});

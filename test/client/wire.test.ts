/** The bytes that a client sends and receives, on each runtime (rows CL): its `fetch` is the platform's. */
import { execFile } from "node:child_process";
import dns from "node:dns";
import { readFileSync } from "node:fs";
import { createServer as createSecureServer } from "node:https";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { HttpClient } from "usher-http";
import { runtimes } from "../support/runtimes.ts";
import { rows } from "../support/wide.ts";

const certificates = join(import.meta.dirname, "../adapters/postgres/certificates");
const program = join(import.meta.dirname, "wire-program.mjs");

const ends: (() => void)[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const end of ends.splice(0)) end();
});

interface Asked {
  readonly connection: number;
  readonly method: string;
  readonly path: string;
  readonly lines: readonly string[];
}

const ok = (body: string, ...headers: readonly string[]): string =>
  ["HTTP/1.1 200 OK", `content-length: ${body.length}`, ...headers, "", body].join("\r\n");

/** The response of each path, byte for byte, and whether the connection ends then. */
const answers: { readonly [path: string]: { readonly bytes: string; readonly ends?: true } } = {
  "/length": { bytes: "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n" },
  "/length/204": { bytes: "HTTP/1.1 204 No Content\r\ncontent-length: 10\r\n\r\n" },
  "/length/304": { bytes: "HTTP/1.1 304 Not Modified\r\ncontent-length: 10\r\n\r\n" },
  "/early": { bytes: `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${ok("late")}` },
  "/to-the-end": { bytes: "HTTP/1.1 200 OK\r\n\r\nall of it", ends: true },
  "/stray": { bytes: `${ok("first")}${ok("stray")}` },
  "/both": {
    bytes: "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
  },
  "/cut/head": { bytes: "HTTP/1.1 200 OK\r\ncontent-le", ends: true },
  "/cut/length": { bytes: "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello", ends: true },
  "/cut/chunked": { bytes: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n", ends: true },
  "/status/20": { bytes: "HTTP/1.1 20 OK\r\ncontent-length: 2\r\n\r\nhi", ends: true },
  "/status/2000": { bytes: "HTTP/1.1 2000 OK\r\ncontent-length: 2\r\n\r\nhi", ends: true },
  "/status/099": { bytes: "HTTP/1.1 099 OK\r\ncontent-length: 2\r\n\r\nhi", ends: true },
  "/status/600": { bytes: "HTTP/1.1 600 OK\r\ncontent-length: 2\r\n\r\nhi", ends: true },
  "/reason": { bytes: "HTTP/1.1 200 O\u0001K\r\ncontent-length: 2\r\n\r\nhi", ends: true },
  "/long": { bytes: ok("x".repeat(1001)) },
  "/piece": { bytes: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\npiece\r\n" },
  "/kept/one-second": { bytes: ok("hi", "keep-alive: timeout=1") },
};

/** A server with these responses, and the requests that it received. */
async function other(): Promise<{ readonly port: number; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    const connection = connections++;
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      for (let end = text.indexOf("\r\n\r\n"); end !== -1; end = text.indexOf("\r\n\r\n")) {
        const [first = "", ...lines] = text.slice(0, end).split("\r\n");
        const length = Number(/^content-length: *(\d+)$/im.exec(lines.join("\n"))?.[1] ?? 0);
        if (text.length < end + 4 + length) return;
        text = text.slice(end + 4 + length);
        const [method = "", path = ""] = first.split(" ");
        asked.push({ connection, method, path, lines });
        respond(socket, path, asked);
      }
    });
    ends.push(() => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, asked };
}

function respond(socket: Socket, path: string, asked: readonly Asked[]): void {
  // The first request of each method meets a close.
  if (path === "/met-by-a-close") {
    const { method } = asked.at(-1) as Asked;
    const isFirst = asked.filter((one) => one.path === path && one.method === method).length === 1;
    return void (isFirst ? socket.destroy() : socket.write(ok("again")));
  }
  const { bytes, ends } = answers[path] ?? { bytes: ok("hi") };
  socket.write(bytes, "latin1");
  if (ends) socket.end();
}

/** A server whose certificate is for `localhost`. */
async function secured(): Promise<number> {
  const [cert, key] = ["server.crt", "server.key"].map((name) => readFileSync(join(certificates, name)));
  const server = createSecureServer({ cert, key }, (_request, response) => void response.end("safe"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => (server.closeAllConnections(), server.close()));
  return (server.address() as AddressInfo).port;
}

/** A port without a listener. */
async function closed(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const expected = {
  "CL-01": "200 hi",
  "CL-03": "200 hi",
  "CL-04": "200 hi",
  "CL-06 HEAD": "200 ",
  "CL-06 204": "204 ",
  "CL-06 304": "304 ",
  "CL-06 then": "200 hi",
  "CL-07": "200 late",
  "CL-09": "200 all of it",
  "CL-16": "200 first,200 hi",
  "CL-19": "error",
  "CL-21": "error",
  "CL-22 length": "200 error",
  "CL-22 chunked": "200 error",
  "CL-24 20": "error",
  "CL-24 2000": "error",
  "CL-24 099": "error",
  "CL-24 600": "error",
  "CL-24 600 HEAD": "error",
  "CL-25": "error",
  "CL-27": "200 error",
  "CL-28": "error",
  "CL-30": "piece TimeoutError",
  "CL-15 GET": "200 again",
  "CL-15 POST": "error",
  "CL-18 name": "200 safe",
  "CL-18 address": "error",
};

const deno = ["run", "--no-config", "--node-modules-dir=manual", "--allow-all"];

type Run = readonly [
  name: string,
  binary: () => string,
  flags: readonly string[],
  otherwise: { readonly [row: string]: unknown },
];
const runs = rows<Run>(
  [
    ["the newest Node", runtimes["node-newest"], [], {}],
    // Neither sends `host` first, nor obeys the server's Keep-Alive timeout: a GET is then sent again.
    ["Bun", runtimes.bun, [], { "CL-01 first": false, "CL-12": 1 }],
    // It repeats any request that meets the close of a kept connection.
    [
      "Deno",
      runtimes.deno,
      deno,
      { "CL-01 first": false, "CL-12": 1, "CL-15 POST": "200 again", "CL-15 sent": ["GET", "GET", "POST", "POST"] },
    ],
  ],
  [["the oldest Node", runtimes["node-oldest"], [], {}]],
);

describe.each(runs)("on %s", (_name, binary, flags, otherwise) => {
  it("rows CL", async () => {
    const [{ port, asked }, securePort] = await Promise.all([other(), secured()]);
    const { stdout } = await promisify(execFile)(
      binary(),
      [...flags, program, ...[port, securePort, await closed()].map(String)],
      {
        cwd: import.meta.dirname,
        env: {
          ...process.env,
          NODE_EXTRA_CA_CERTS: join(certificates, "authority.crt"),
          DENO_CERT: join(certificates, "authority.crt"),
        },
      },
    );
    const linesOf = (path: string) =>
      (asked.find((one) => one.path === path)?.lines ?? []).map((line) => line.toLowerCase());
    const connectionsOf = (path: string) =>
      new Set(asked.filter((one) => one.path === path).map(({ connection }) => connection)).size;
    const seen = {
      ...(JSON.parse(stdout) as object),
      "CL-01 host": linesOf("/head/host").filter((line) => line.startsWith("host:")),
      "CL-01 first": linesOf("/head/host")[0]?.startsWith("host:"),
      "CL-01 authorization": linesOf("/head/host").filter((line) => line.startsWith("authorization")).length,
      "CL-03 framing": linesOf("/head/body").filter((line) => /^(content-length|transfer-encoding)/.test(line)),
      "CL-04 framing": linesOf("/head/none").filter((line) => /^(content-length|transfer-encoding)/.test(line)),
      // Node sends a request before the end of an answer has freed the connection: two take turns.
      "CL-10": connectionsOf("/kept/ten") <= 2,
      "CL-12": connectionsOf("/kept/one-second"),
      "CL-15 sent": asked.filter(({ path }) => path === "/met-by-a-close").map(({ method }) => method),
    };
    expect(seen).toEqual({
      ...expected,
      "CL-01 host": [`host: 127.0.0.1:${port}`],
      "CL-01 first": true,
      "CL-01 authorization": 0,
      "CL-03 framing": ["content-length: 100"],
      "CL-04 framing": ["content-length: 0"],
      "CL-10": true,
      "CL-12": 2,
      "CL-15 sent": ["GET", "GET", "POST"],
      ...otherwise,
    });
  });
});

it("CL-13 every address of a name is tried", async () => {
  const { port } = await other();
  const addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.1"].map((address) => ({ address, family: 4 }));
  vi.spyOn(dns, "lookup").mockImplementation(((
    _name: string,
    _options: object,
    found: (...answer: unknown[]) => void,
  ) => found(null, addresses)) as never);
  expect(await (await HttpClient.make().fetch(`http://shop.test:${port}/`)).text()).toBe("hi");
});

it("a call other than a read is never sent again, nor one whose time is over", async () => {
  const { port, asked } = await other();
  const client = HttpClient.make({ baseUrl: `http://127.0.0.1:${port}` });
  for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS", "PURGE"]) {
    await expect(client.fetch("/met-by-a-close", { method })).rejects.toThrow("fetch failed");
  }
  expect(asked).toHaveLength(5);
  expect((await client.fetch("/met-by-a-close", { method: "HEAD" })).status).toBe(200);
  expect(asked).toHaveLength(7);
});

it.each<
  [
    what: string,
    method: string,
    body: string | Uint8Array<ArrayBuffer> | URLSearchParams | ReadableStream | undefined,
    sent: number,
  ]
>([
  ["without a body", "DELETE", undefined, 2],
  ["a text", "POST", "a", 2],
  ["bytes", "POST", new Uint8Array([97]), 2],
  ["fields", "PATCH", new URLSearchParams("a=b"), 2],
  ["a stream", "POST", new Blob(["a"]).stream(), 1],
])("a call with an idempotency key is sent again with it, %s", async (_what, method, body, sent) => {
  const { port, asked } = await other();
  const client = HttpClient.make({ baseUrl: `http://127.0.0.1:${port}` });
  const init = { method, headers: { "Idempotency-Key": '"k1"' }, ...(body === undefined ? {} : { body }) };
  const status = await client.fetch("/met-by-a-close", init).then(
    (response) => response.status,
    () => 0,
  );
  const requests = asked.filter((one) => one.method === method).length;
  expect([status, requests]).toEqual([sent === 2 ? 200 : 0, sent]);
});

it("CL-19 the body of a response that is not valid is cancelled", async () => {
  const cancelled = vi.fn();
  const body = new ReadableStream({ cancel: cancelled });
  const headers = { "transfer-encoding": "chunked", "content-length": "5" };
  // Node would cancel it when it is collected.
  vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response(body, { headers }));
  const refused = HttpClient.make().fetch("http://127.0.0.1/");
  await expect(refused).rejects.toThrow("HttpClient.fetch: the response is not valid HTTP");
  expect(cancelled).toHaveBeenCalledOnce();
});

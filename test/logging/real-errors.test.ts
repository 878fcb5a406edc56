/** What the log has of errors that each runtime makes itself: which it is, and never what its message says (7.6; LG-11). */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { bundle, start } from "../adapters/workers/running.ts";
import { builtProgram } from "../support/built-program.ts";
import { runtimes } from "../support/runtimes.ts";

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterAll(() => {
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
});

async function portOf(act: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    act(socket);
  });
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return String((server.address() as AddressInfo).port);
}

const none = await portOf(() => {});
servers.pop()?.close();
const ports = {
  none,
  silent: await portOf((socket) => socket.resume()),
  closing: await portOf((socket) => socket.once("data", () => socket.destroy())),
  junk: await portOf((socket) => socket.end("junk\r\n\r\n")),
  cut: await portOf((socket) => {
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab");
      setTimeout(() => socket.destroy(), 50);
    });
  }),
};

async function loggedBy(file: string, ...flags: readonly string[]): Promise<unknown> {
  const program = await builtProgram(join(import.meta.dirname, "real-errors-program.ts"));
  const { stdout } = await promisify(execFile)(file, [...flags, program, JSON.stringify(ports)]);
  return JSON.parse(stdout);
}

async function loggedByWorkerd(): Promise<unknown> {
  const contents = `import { logged } from "../../logging/real-errors.ts";
    export default { fetch: async () => Response.json(await logged(${JSON.stringify(ports)})) };`;
  const { client } = await start(await bundle({ contents }));
  return JSON.parse((await (await client()).ask("GET /").answer()).body);
}

type Logged = readonly [what: string, node: string, bun: string, deno: string, workerd: string];

/** The kind and the code of the error, and those of its cause. */
const table: readonly Logged[] = [
  [
    "a refused connection",
    "TypeError - Error ECONNREFUSED",
    "TypeError ECONNREFUSED - -",
    "TypeError - Error ECONNREFUSED",
    "Error CONNECTION_LOST - -",
  ],
  [
    "one refused of two",
    "AggregateError - Error ECONNREFUSED",
    "AggregateError - TypeError ECONNREFUSED",
    "AggregateError - Error ECONNREFUSED",
    "AggregateError - Error CONNECTION_LOST",
  ],
  // Bun and workerd block no port.
  [
    "a port that fetch blocks",
    "TypeError - Error BAD_PORT",
    "TypeError ECONNREFUSED - -",
    "TypeError BAD_PORT - -",
    "Error CONNECTION_LOST - -",
  ],
  [
    "a wrong URL",
    "TypeError - TypeError ERR_INVALID_URL",
    "TypeError ERR_INVALID_URL - -",
    "TypeError - - -",
    "TypeError - - -",
  ],
  ["a time limit", "TimeoutError - - -", "TimeoutError - - -", "TimeoutError - - -", "TimeoutError - - -"],
  ["an abort", "AbortError - - -", "AbortError - - -", "AbortError - - -", "AbortError - - -"],
  [
    "a connection that is closed",
    "TypeError - SocketError UND_ERR_SOCKET",
    "TypeError ECONNRESET - -",
    "TypeError - Error ECONNRESET",
    "Error CONNECTION_LOST - -",
  ],
  // The newest Node's parser has no code, and workerd calls it an internal error.
  [
    "a response that is no HTTP",
    "TypeError - HTTPParserError -",
    "TypeError ECONNRESET - -",
    "TypeError - Error -",
    "Error - - -",
  ],
  [
    "a body that is cut",
    "TypeError - SocketError UND_ERR_SOCKET",
    "TypeError ECONNRESET - -",
    "TypeError ECONNRESET - -",
    "Error CONNECTION_LOST - -",
  ],
  [
    "TLS where none is spoken",
    "TypeError - Error ERR_SSL_WRONG_VERSION_NUMBER",
    "TypeError EPROTO - -",
    "TypeError - Error -",
    "Error - - -",
  ],
  [
    "a body that was read already",
    "TypeError - - -",
    "TypeError ERR_BODY_ALREADY_USED - -",
    "TypeError - - -",
    "TypeError - - -",
  ],
  ["no JSON", "SyntaxError - - -", "SyntaxError - - -", "SyntaxError - - -", "SyntaxError - - -"],
  [
    "a text that is no URL",
    "TypeError ERR_INVALID_URL - -",
    "TypeError ERR_INVALID_URL - -",
    "TypeError - - -",
    "TypeError - - -",
  ],
  [
    "a value that cannot be cloned",
    "DataCloneError - - -",
    "DataCloneError - - -",
    "DataCloneError - - -",
    "DataCloneError - - -",
  ],
  [
    "text that is no base64",
    "InvalidCharacterError - - -",
    "InvalidCharacterError - - -",
    "InvalidCharacterError - - -",
    "InvalidCharacterError - - -",
  ],
  [
    "bytes that are no gzip",
    "TypeError Z_DATA_ERROR Error Z_DATA_ERROR",
    "TypeError - - -",
    "TypeError - - -",
    "TypeError - - -",
  ],
  ["a key of a wrong length", "DataError - - -", "DataError - - -", "DataError - - -", "DataError - - -"],
  [
    "bytes that are no UTF-8",
    "TypeError ERR_ENCODING_INVALID_ENCODED_DATA - -",
    "TypeError ERR_ENCODING_INVALID_ENCODED_DATA - -",
    "TypeError - - -",
    "TypeError - - -",
  ],
];
const ofOldest = {
  "a response that is no HTTP": "TypeError - HTTPParserError HPE_INVALID_CONSTANT",
  "bytes that are no gzip": "Error Z_DATA_ERROR - -",
};

function column(place: 1 | 2 | 3 | 4): { readonly [what: string]: string } {
  return Object.fromEntries(table.map((row) => [row[0], row[place]]));
}

it.each([
  ["the oldest Node", () => loggedBy(runtimes["node-oldest"]()), { ...column(1), ...ofOldest }],
  ["the newest Node", () => loggedBy(runtimes["node-newest"]()), column(1)],
  ["Bun", () => loggedBy(runtimes.bun()), column(2)],
  ["Deno", () => loggedBy(runtimes.deno(), "run", "--allow-all"), column(3)],
  ["workerd", loggedByWorkerd, column(4)],
])("%s", async (_, logged, expected) => {
  expect(await logged()).toEqual(expected);
});

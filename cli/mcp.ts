import { readFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { routes as mcpRoutes } from "../adapters/mcp/mcp.ts";
import type { MessageParams } from "../adapters/mcp/protocol.ts";
import { make } from "../src/app/app.ts";
import type { App } from "../src/app/app.ts";
import { fetchFrom } from "../src/app/web.ts";
import { inTime } from "../src/async.ts";
import { EventReader } from "../src/events/event-reader.ts";
import { isRecord } from "../src/arguments.ts";
import { setup } from "../src/logging/log.ts";
import type { Route } from "../src/routing/route.ts";
import { settled } from "../src/server/settle.ts";
import { headersOf } from "./call.ts";
import { UsageError } from "./command.ts";
import type { Command, Terminal } from "./command.ts";
import { appOptions, loadModule } from "./load-routes.ts";

const help = `usher mcp <module> [options]

Serves the routes that the module exports as "routes" and that have Meta.tool as tools of a local agent, by the Model Context
Protocol on standard input and output. Each call is a request in this process: no port is opened. If the routes have those of
Mcp.routes, its name, instructions, resources and prompts are used.

  claude mcp add orders -- npx usher-http mcp routes.ts -H 'authorization: Bearer secret'

It ends with its input, once the calls are answered: after 10 s it cancels them, and at SIGTERM or SIGINT at once. Log lines and
what the routes print are written to standard error.

  -H, --header 'NAME: VALUE'  a header of every request, such as a credential; may be repeated
      --path PATH             the path of Mcp.routes: /mcp unless given`;

/** `usher mcp`: the tools of a module, for an agent on the same machine. */
export const mcp: Command = {
  name: "mcp",
  summary: "serve the routes with Meta.tool to a local agent, on standard input and output",
  help,
  async run(args, terminal) {
    const { module, headers, path } = mcpCommandLine(args);
    setup({
      out: (line) => terminal.error(line.endsWith("\n") ? line : `${line}\n`),
      levels: { "framework.http": "warn" },
    });
    const loaded = await loadModule(module);
    const routes = hasMcp(loaded.routes, path)
      ? loaded.routes
      : [...loaded.routes, ...mcpRoutes(loaded.routes, { ...projectOf(), path })];
    const app = make(routes, await appOptions(module, loaded, terminal));
    const bridge = new Bridge(app, headers, path, terminal);
    const signalled = stopSignal();
    await Promise.race([bridge.read(process.stdin as AsyncIterable<Uint8Array>), signalled]);
    await inTime(Promise.race([bridge.answered(), signalled]), drainMs);
    bridge.cancel();
    app.drain();
    await inTime(
      bridge.answered().then(() => settled(app, settleMs)),
      settleMs,
    );
    await app.flush?.();
    return 0;
  },
};

/** How long calls may run after the end of the input. */
const drainMs = 10_000;
/** How long what continues after the answers may take. A client may kill the command two seconds after a signal. */
const settleMs = 1000;

/** Resolves at the first signal to stop. A second one has its default effect. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => resolve());
  });
}

const lineFeed = 0x0a;

/** A line ends at a line feed. `readline` of Node 24, Bun and Deno also ends one at U+2028, which a text of JSON may have. */
async function* inputLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer<ArrayBuffer>> {
  let parts: Uint8Array[] = [];
  for await (const bytes of input) {
    let from = 0;
    for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, from)) {
      yield Buffer.concat([...parts, bytes.subarray(from, at)]);
      parts = [];
      from = at + 1;
    }
    parts.push(bytes.subarray(from));
  }
  yield Buffer.concat(parts);
}

function mcpCommandLine(args: readonly string[]): {
  readonly module: string;
  readonly headers: Headers;
  readonly path: string;
} {
  const { positionals, values } = parseArgs({
    args: [...args],
    options: { header: { type: "string", short: "H", multiple: true }, path: { type: "string" } },
    allowPositionals: true,
  });
  const [module, ...more] = positionals;
  if (module === undefined) throw new UsageError("the module is missing");
  if (more.length > 0) throw new UsageError(`give one module, not ${more.length + 1}`);
  const { path = "/mcp" } = values;
  if (!/^\/[^\s?#]*$/.test(path))
    throw new UsageError(`--path must be a path such as /mcp, not ${JSON.stringify(path)}`);
  return { module, headers: headersOf(values.header ?? []), path };
}

function hasMcp(routes: readonly Route[], path: string): boolean {
  return routes.some(({ method, pattern }) => method === "POST" && pattern === path);
}

/** The name of the project, of whose folder the command is run. */
function projectOf(): { readonly name: string; readonly version: string } {
  try {
    const { name, version } = JSON.parse(readFileSync("package.json", "utf8")) as { name?: unknown; version?: unknown };
    return { name: typeof name === "string" ? name : "usher", version: typeof version === "string" ? version : "0" };
  } catch {
    return { name: "usher", version: "0" };
  }
}

/** Takes messages as lines, and writes what the app answers to each as it comes. */
class Bridge {
  readonly #app: App;
  readonly #headers: Headers;
  readonly #url: string;
  readonly #terminal: Terminal;
  /** What cancels a request that is not answered yet, by its id. */
  readonly #pending = new Map<unknown, AbortController>();
  /** What is being answered, and what cancels it. */
  readonly #work = new Map<Promise<void>, AbortController>();

  constructor(app: App, headers: Headers, path: string, terminal: Terminal) {
    this.#app = app;
    this.#headers = headers;
    this.#url = `http://localhost${path}`;
    this.#terminal = terminal;
  }

  async read(input: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const line of inputLines(input)) this.#take(line);
  }

  #take(line: Buffer<ArrayBuffer>): void {
    const text = line.toString();
    if (/^[\t\r ]*$/.test(text)) return;
    const message = messageInLine(text);
    if (message.method === "notifications/cancelled") {
      this.#pending.get(message.params["requestId"])?.abort();
      return;
    }
    const cancel = new AbortController();
    const work = this.#answer(line, message, cancel).finally(() => this.#work.delete(work));
    this.#work.set(work, cancel);
  }

  async answered(): Promise<void> {
    await Promise.all(this.#work.keys());
  }

  /** Cancels what is not answered. */
  cancel(): void {
    for (const call of this.#work.values()) call.abort();
  }

  /** On standard input a message has no headers; the app reads them. */
  #headersOf({ method, params }: MessageOfLine): Headers {
    const headers = new Headers(this.#headers);
    headers.set("content-type", "application/json");
    headers.set("accept", "application/json, text/event-stream");
    const { _meta: meta } = params;
    // Of a message that names no version the app says what it lacks, and not which header.
    const { "io.modelcontextprotocol/protocolVersion": version = "2026-07-28" } = isRecord(meta) ? meta : {};
    if (method === undefined || typeof version !== "string") return headers;
    const name = method === "resources/read" ? params["uri"] : params["name"];
    const encoded = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;
    headers.set("mcp-protocol-version", /^[\w.-]+$/.test(version) ? version : "invalid");
    headers.set("mcp-method", /^[\w./-]+$/.test(method) ? method : "invalid");
    if (typeof name === "string") headers.set("mcp-name", encoded(name));
    return headers;
  }

  async #answer(body: Buffer<ArrayBuffer>, message: MessageOfLine, cancel: AbortController): Promise<void> {
    const { id } = message;
    if (id !== undefined) this.#pending.set(id, cancel);
    const headers = this.#headersOf(message);
    const request = new Request(this.#url, { method: "POST", headers, body, signal: cancel.signal });
    const response = await fetchFrom(this.#app, request, "127.0.0.1", undefined);
    try {
      for await (const text of messagesOf(response, message))
        if (!cancel.signal.aborted) this.#terminal.out(`${text}\n`);
    } catch {
      // What the stream threw is in its log line.
      if (!cancel.signal.aborted && !isNotification(message))
        this.#terminal.out(`${refusedText(500, "The answer broke off.", id)}\n`);
    }
    if (id !== undefined && this.#pending.get(id) === cancel) this.#pending.delete(id);
  }
}

/** What a line says, as far as it is what a message may have: a line is anything. */
interface MessageOfLine {
  readonly id: string | number | undefined;
  readonly method: string | undefined;
  readonly params: MessageParams;
}

/** Of a line that is no message nothing: the app answers it. */
function messageInLine(line: string): MessageOfLine {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    // The app says so.
  }
  const { id, method, params } = isRecord(json) ? json : {};
  return {
    id: typeof id === "string" || typeof id === "number" ? id : undefined,
    method: typeof method === "string" ? method : undefined,
    params: isRecord(params) ? params : {},
  };
}

/** The messages of an answer: one, those of a stream, or none. A refusal of the app itself is an error of the protocol. */
async function* messagesOf(response: Response, message: MessageOfLine): AsyncGenerator<string> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) {
    const reader = new EventReader(Number.POSITIVE_INFINITY);
    for await (const part of response.body ?? []) for (const { data } of reader.feed(part)) yield data;
    return;
  }
  const text = await response.text();
  if (text.startsWith('{"jsonrpc"')) yield text;
  else if (text !== "" && !isNotification(message)) yield refusedText(response.status, text, message.id);
}

/** JSON-RPC 2.0 section 4.1: a notification has no response, not even an error. */
function isNotification({ id, method }: MessageOfLine): boolean {
  return id === undefined && method !== undefined;
}

function refusedText(status: number, text: string, id: MessageOfLine["id"]): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id: id ?? null,
    error: { code: -32_000, message: `Status ${status}`, data: text },
  });
}

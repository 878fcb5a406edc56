import { STATUS_CODES } from "node:http";
import process from "node:process";
import { parseArgs } from "node:util";
import { make } from "../src/app/app.ts";
import { logUnsettled } from "../src/app/failures.ts";
import { setup } from "../src/logging/log.ts";
import { settled } from "../src/server/settle.ts";
import { UsageError } from "./command.ts";
import type { Command, Terminal } from "./command.ts";
import { appOptions, loadModule } from "./load-routes.ts";

const help = `usher call <module> <METHOD> <target> [body] [options]

Sends one request to the routes that the module exports as "routes", in this process: no port is opened. Prints the body to
standard output, and the status to standard error. A body is sent as application/json unless -H gives another content-type; the
body - is read from standard input. An event stream is printed as it arrives. It ends once the work that continues after the
answer has ended: after 10 s it is cut.

  usher call routes.ts GET /orders?page=2
  usher call routes.ts POST /orders '{"item":"pen"}' -H 'authorization: Bearer secret'

The exit code is 0 for a status below 400, 4 for a 4xx, 5 for a 5xx, 1 if there is no response, 2 for an invalid command line.

  -H, --header 'NAME: VALUE'  sends a header; may be repeated
  -i, --include               prints the status and the headers before the body, to standard output`;

/** `usher call`: one request without a socket. */
export const call: Command = {
  name: "call",
  summary: "send one request to the routes, without a server",
  help,
  async run(args, terminal) {
    const { module, method, target, headers, body, include } = callLine(args);
    // Only what the request raises is of interest, not that it was answered.
    setup({ levels: { "framework.http": "warn" } });
    const loaded = await loadModule(module);
    const app = make(loaded.routes, await appOptions(module, loaded, terminal));
    const request = requestOf(method, target, headers, await bodyToSend(body));
    const response = await app.fetch(request, { peer: "127.0.0.1" });
    printHead(response, include, terminal);
    try {
      await printBody(response, terminal);
    } finally {
      // The process ends with the command, also where the body breaks off.
      app.drain();
      logUnsettled(await settled(app, drainMs));
      await app.flush?.();
    }
    return response.status < 400 ? 0 : Math.floor(response.status / 100);
  },
};

/** How long what continues after the answer may take. */
const drainMs = 10_000;

interface CallLine {
  readonly module: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly include: boolean;
}

function callLine(args: readonly string[]): CallLine {
  const { positionals, values } = parseArgs({
    args: [...args],
    options: {
      header: { type: "string", short: "H", multiple: true },
      include: { type: "boolean", short: "i" },
    },
    allowPositionals: true,
  });
  const [module, method, target, body, ...more] = positionals;
  if (module === undefined) throw new UsageError("the module is missing");
  if (method === undefined) throw new UsageError("the method is missing: GET, POST or another one");
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(method)) throw new UsageError(`${JSON.stringify(method)} is not a method`);
  if (target === undefined) throw new UsageError("the target is missing: a path as /orders?page=2");
  if (!/^\/[^\s#]*$/.test(target))
    throw new UsageError(`the target must be a path such as /orders?page=2, not ${JSON.stringify(target)}`);
  if (more.length > 0) throw new UsageError("give one body, in quotes");
  const headers = headersOf(values.header ?? []);
  return { module, method: method.toUpperCase(), target, headers, body, include: values.include === true };
}

export function headersOf(lines: readonly string[]): Headers {
  const headers = new Headers();
  for (const line of lines) {
    const [, name = "", value = ""] = /^([^:]+):(.*)$/s.exec(line) ?? [];
    try {
      headers.append(name.trim(), value.trim());
    } catch {
      throw new UsageError(`--header must be 'name: value', not ${JSON.stringify(line)}`);
    }
  }
  return headers;
}

function requestOf(method: string, target: string, headers: Headers, body: string | Blob | undefined): Request {
  if (body !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json");
  // What is appended to an origin cannot name another host, as //host would.
  const url = `http://localhost${target}`;
  try {
    return new Request(url, body === undefined ? { method, headers } : { method, headers, body });
  } catch (thrown) {
    throw new UsageError(`${method} ${target} cannot be sent: ${(thrown as Error).message}`);
  }
}

async function bodyToSend(body: string | undefined): Promise<string | Blob | undefined> {
  if (body !== "-") return body;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const part of process.stdin) parts.push(part as Uint8Array<ArrayBuffer>);
  return new Blob(parts);
}

function printHead({ status, headers }: Response, include: boolean, terminal: Terminal): void {
  const line = `${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
  if (!include) {
    terminal.error(`${line}\n`);
    return;
  }
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\n`);
  terminal.out(`${line}\n${lines.join("")}\n`);
}

async function printBody({ body }: Response, terminal: Terminal): Promise<void> {
  let last = 10;
  const reader = body?.getReader();
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    terminal.out(part.value);
    last = part.value.at(-1) ?? last;
  }
  // The prompt of a terminal begins on a line of its own.
  if (terminal.columns !== undefined && last !== 10) terminal.out("\n");
}

/** Features of a route in every combination: each listener answers as `app.fetch` does, and nothing of a request is left over. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { serve } from "usher-http/node";
import { eventually } from "../support/eventually.ts";
import { http2Ask, http2Client } from "../support/http2-client.ts";
import { forgetLines, lines } from "../support/logs.ts";
import { RawClient, header } from "../support/raw-client.ts";
import { appOf, ask, features, sent } from "./combinations.ts";
import type { Ask, Fate, Features } from "./combinations.ts";
import { played } from "./seeds.ts";

interface Seen {
  readonly status: number;
  readonly head: { readonly [name: string]: string };
  readonly body: string;
}

/** Fields that each listener, or each request, has its own of. */
const own = new Set(["date", "connection", "keep-alive", "transfer-encoding", "x-request-id"]);

function seen(status: number, head: Iterable<readonly [name: string, value: string]>, body: string): Seen {
  const fields: { [name: string]: string } = {};
  for (const [given, value] of head) {
    const name = given.toLowerCase();
    if (own.has(name) || name.startsWith(":")) continue;
    fields[name] = fields[name] === undefined ? value : `${fields[name]}, ${value}`;
  }
  return { status, head: fields, body };
}

/** One request with its id, as each listener takes it. */
function requestOf(one: Features, asked: Ask, id: string) {
  const [method, type, body] = sent(one, asked);
  const target = `/x?does=${asked.does}`;
  const headers = [`x-request-id: ${id}`, ...asked.headers, ...(type === "" ? [] : [`content-type: ${type}`])];
  const pairs = headers.map((line) => line.split(": ") as [string, string]);
  return { method, target, headers, pairs, body, hasBody: type !== "", isChunked: type !== "" && asked.isChunked };
}
type Requested = ReturnType<typeof requestOf>;

/** One connection, and another after an answer that closes it, as one that comes before its body does. */
class Http1 {
  readonly #port: number;
  #client: RawClient | undefined = undefined;

  constructor(port: number) {
    this.#port = port;
  }

  async ask({ method, target, headers, body, isChunked }: Requested): Promise<Seen> {
    const client = (this.#client ??= await RawClient.to(this.#port));
    const chunks = `${body === "" ? "" : `${body.length.toString(16)}\r\n${body}\r\n`}0\r\n\r\n`;
    const framing = isChunked ? ["transfer-encoding: chunked"] : [`content-length: ${body.length}`];
    client.send(`${method} ${target} HTTP/1.1`, "host: h", ...headers, ...framing, "", isChunked ? chunks : body);
    const answer = await client.answer({ toHead: method === "HEAD" });
    if (header(answer, "connection") === "close") this.leave();
    return seen(answer.status, answer.head, answer.body);
  }

  leave(): void {
    this.#client?.leave();
    this.#client = undefined;
  }
}

async function overHttp2(session: Awaited<ReturnType<typeof http2Client>>, asked: Requested): Promise<Seen> {
  const { method, target, pairs, body, hasBody, isChunked } = asked;
  const length = hasBody && !isChunked ? { "content-length": body.length } : {};
  const head = { ":method": method, ":path": target, ":authority": "h", ...Object.fromEntries(pairs), ...length };
  const answer = await http2Ask(session, head, hasBody ? body : undefined);
  const raw = answer.raw.flatMap((name, i) => (i % 2 === 0 ? [[name, answer.raw[i + 1] as string] as const] : []));
  return seen(answer.status, raw, answer.body);
}

async function byFetch({ app }: ReturnType<typeof appOf>, asked: Requested): Promise<Seen> {
  const { method, target, pairs, body, hasBody } = asked;
  const init = { method, headers: pairs, ...(hasBody && { body }) };
  const response = await app.fetch(new Request(`http://h${target}`, init), { peer: "127.0.0.1" });
  return seen(response.status, response.headers, await response.text());
}

/** Each value of a request was released once, with the same end. */
function isOver(fate: Fate, id: string, one: Features, { does }: Ask, status: number): void {
  const each = (value: string, times: number): readonly string[] => Array.from({ length: times }, () => value);
  const isDone = fate.isHandled && does === "answer" && !(one.reads === "parts" && fate.tasks.length === 0);
  expect(fate.acquired).toBeLessThanOrEqual(1);
  expect(fate.released).toEqual(each(`${status}`, fate.acquired));
  expect(fate.kept).toEqual(each(isDone ? "commit" : "roll back", one.holds === "kept" ? fate.acquired : 0));
  expect(fate.tasks).toEqual(each(`${status}`, fate.tasks.length));
  expect(fate.open).toBe(0);
  const written = lines().filter((line) => line["request_id"] === id);
  const access = written.filter((line) => line["http.response.status_code"] !== undefined);
  expect(access.map((line) => line["http.response.status_code"])).toEqual([status]);
  const errors = written.filter(({ level }) => level === "error");
  expect(errors.length).toBe(fate.isHandled && does === "throw" && fate.tasks.length > 0 ? 1 : 0);
}

async function holds(one: Features, asks: readonly Ask[]): Promise<void> {
  forgetLines();
  const made = appOf(one);
  const server = await serve(made.routes, { ...made.options, port: 0, host: "127.0.0.1", http2: true, signals: false });
  const http1 = new Http1(server.port);
  const session = await http2Client(server.url);
  const listeners: { readonly [name: string]: (asked: Requested) => Promise<Seen> } = {
    fetch: (asked) => byFetch(made, asked),
    http1: (asked) => http1.ask(asked),
    http2: (asked) => overHttp2(session, asked),
  };
  try {
    for (const [i, asked] of asks.entries()) {
      let first: Seen | undefined;
      for (const [name, listener] of Object.entries(listeners)) {
        const id = `${name}-${i}`;
        const answer = await listener(requestOf(one, asked, id));
        first ??= answer;
        expect([name, answer]).toEqual([name, first]);
        await eventually(() => isOver(made.fateOf(id), id, one, asked, answer.status));
      }
    }
  } finally {
    http1.leave();
    session.destroy();
    await server.stop();
  }
}

it("every combination of features is answered the same by each listener, and leaves nothing", async () => {
  await fc.assert(fc.asyncProperty(features, fc.array(ask, { minLength: 1, maxLength: 4 }), holds), played(50));
});

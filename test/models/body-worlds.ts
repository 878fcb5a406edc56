/** Where the model's requests are played: `app.fetch`, and the listener of `usher-http/node` behind sockets. */
import { getEventListeners } from "node:events";
import { expect, vi } from "vitest";
import { App, Body, Path, Returns, body, bodyStream, clientGone, get, param, post } from "usher-http";
import type { App as UsherApp, Route } from "usher-http";
import type { Server } from "usher-http/node";
import { gate, holdClock, start } from "../support/node-server.ts";
import type { Gate } from "../support/node-server.ts";
import { RawClient } from "../support/raw-client.ts";
import { bodyBudget, bodyTimeoutMs, maxBody, maxStream } from "./bodies.ts";
import type { Answered, Asked, World } from "./bodies.ts";

const key = Path.int("key");
const keyed = { key: param(key), clientGone };
const text = { returns: Returns.text };

/** Routes whose handlers wait for gates. */
function routesOf(gates: (key: number) => Promise<void>, after: (read: unknown) => void): readonly Route[] {
  const inputs = { ...keyed, upload: bodyStream({ max: maxStream }) };
  const rest = async (upload: Body, before: number) => {
    let read = before;
    for (let part = await upload.read(); ; part = await upload.read()) {
      if (!part.ok) return Body.refusal(part.error);
      if (part.value === undefined) return String(read);
      read += part.value.byteLength;
    }
  };
  const size = (parts: readonly Awaited<ReturnType<Body["read"]>>[]) =>
    parts.reduce((sum, part) => sum + (part.ok ? (part.value?.byteLength ?? 0) : 0), 0);
  return [
    post(Path.of("whole", key), { inputs: { ...keyed, body }, ...text }, async ({ key, body }) => {
      await gates(key);
      return String(body.byteLength);
    }),
    post(Path.of("parts", key), { inputs, ...text }, async ({ key, upload }) => {
      let read = 0;
      for await (const part of upload) read += part.byteLength;
      await gates(key);
      return String(read);
    }),
    post(Path.of("first", key), { inputs, ...text }, async ({ key, upload }) => {
      const read = size([await upload.read()]);
      await gates(key);
      return rest(upload, read);
    }),
    post(Path.of("both", key), { inputs, ...text }, async ({ key, upload }) => {
      const read = size(await Promise.all([upload.read(), upload.read(), upload.read()]));
      await gates(key);
      return rest(upload, read);
    }),
    post(Path.of("late", key), { inputs, ...text }, async ({ key, upload }) => {
      await gates(key);
      return rest(upload, 0);
    }),
    post(Path.of("after", key), { inputs, ...text }, ({ key, upload }) => {
      void gates(key).then(async () => after(await upload.read()));
      return "after";
    }),
    post(Path.of("racing", key), { inputs, ...text }, async ({ key, upload }) => {
      void upload.read().then(after);
      await gates(key);
      return "racing";
    }),
    post(Path.of("none", key), { inputs: keyed, ...text }, async ({ key }) => {
      await gates(key);
      return "none";
    }),
    get(Path.of("ok"), text, () => "ok"),
  ];
}

/** What both worlds have: gates, and what a handler read after its answer. */
abstract class Gated {
  readonly #gates = new Map<number, Gate>();
  readonly late: unknown[] = [];
  readonly routes: readonly Route[] = routesOf(
    (key) => this.#gate(key).passed,
    (read) => this.late.push(read),
  );

  open({ key }: Pick<Asked, "key">): void {
    this.#gate(key).open();
  }

  #gate(key: number): Gate {
    const known = this.#gates.get(key) ?? gate();
    this.#gates.set(key, known);
    return known;
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const options = (bodyShare: number) => ({ maxBody, bodyBudget, bodyShare });

interface Called {
  readonly wire: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly signal: AbortSignal;
  answered: Answered | undefined;
}

/** `app.fetch`, whose clients are streams. */
export class FetchWorld extends Gated implements World {
  readonly hasClock = false;
  readonly dropsFirst = false;
  readonly seesCut = true;
  readonly bodyShare: number;
  readonly app: UsherApp;
  readonly #called = new Map<number, Called>();

  constructor(bodyShare: number) {
    super();
    this.bodyShare = bodyShare;
    this.app = App.make(this.routes, options(bodyShare));
  }

  ask({ key, kind, peer, chunked, length }: Asked): Promise<void> {
    const isEmpty = !chunked && length === 0;
    let wire: ReadableStreamDefaultController<Uint8Array> | undefined;
    const stream = isEmpty ? null : new ReadableStream<Uint8Array>({ start: (to) => void (wire = to) });
    const headers = chunked ? {} : { "content-length": String(length) };
    const { signal } = new AbortController();
    const init = { method: "POST", headers: new Headers(Object.entries(headers)), body: stream, signal };
    const called: Called = { wire, signal, answered: undefined };
    this.#called.set(key, called);
    void this.app
      .fetch(new Request(`http://h/${kind}/${key}`, { ...init, duplex: "half" }), { peer })
      .then(async (response) => {
        called.answered = { status: response.status, body: await response.text() };
      });
    return Promise.resolve();
  }

  send({ key, chunked, sent, length }: Asked, bytes: number): void {
    const wire = this.#called.get(key)?.wire;
    wire?.enqueue(new Uint8Array(bytes));
    if (!chunked && sent + bytes === length) wire?.close();
  }

  end({ key }: Asked): void {
    this.#called.get(key)?.wire?.close();
  }

  cut({ key }: Asked): void {
    this.#called.get(key)?.wire?.error(new Error("cut"));
  }

  pass(): void {}

  async settle(): Promise<void> {
    for (let i = 0; i < 3; i++) await turn();
  }

  answerOf({ key }: Asked): Answered | undefined {
    return this.#called.get(key)?.answered;
  }

  /** No listener is left on the signals of answered requests, except the request's own. */
  isAtRest(): Promise<boolean> {
    const signals = [...this.#called.values()].map(({ signal }) => signal);
    return Promise.resolve(signals.every((signal) => getEventListeners(signal, "abort").length <= 1));
  }
}

/** A server and its sockets. Its clock is held. */
export class NodeWorld extends Gated implements World {
  readonly hasClock = true;
  readonly dropsFirst = true;
  readonly seesCut = false;
  readonly bodyShare = bodyBudget;
  #server: Server | undefined = undefined;
  #other: RawClient | undefined = undefined;
  readonly #clients = new Map<number, { readonly client: RawClient; answered: Answered | undefined }>();

  get #port(): number {
    return this.#server?.port ?? 0;
  }

  async begin(): Promise<void> {
    holdClock();
    this.#server = await start(this.routes, { ...options(this.bodyShare), bodyTimeoutMs, drainMs: 10_000 });
  }

  async ask({ key, kind, chunked, length }: Asked): Promise<void> {
    const client = await RawClient.to(this.#port);
    const known = { client, answered: undefined as Answered | undefined };
    this.#clients.set(key, known);
    client.answer().then(
      ({ status, body }) => (known.answered = { status, body }),
      // It is cut.
      () => {},
    );
    const framing = chunked ? "transfer-encoding: chunked" : `content-length: ${length}`;
    client.send(`POST /${kind}/${key} HTTP/1.1`, "host: h", framing, "", "");
  }

  send({ key, chunked }: Asked, bytes: number): void {
    const { socket } = this.#client(key);
    const part = "x".repeat(bytes);
    if (socket.writable) socket.write(chunked ? `${bytes.toString(16)}\r\n${part}\r\n` : part);
  }

  end({ key }: Asked): void {
    const { socket } = this.#client(key);
    if (socket.writable) socket.write("0\r\n\r\n");
  }

  cut({ key }: Asked): void {
    this.#client(key).leave();
  }

  pass(ms: number): void {
    vi.advanceTimersByTime(ms);
  }

  // Another client's requests are answered: earlier bytes are with the server, which has one event loop.
  async settle(): Promise<void> {
    this.#other ??= await RawClient.to(this.#port);
    for (let i = 0; i < 4; i++) await this.#other.ask("GET /ok").answer();
  }

  answerOf({ key }: Asked): Answered | undefined {
    return this.#clients.get(key)?.answered;
  }

  #client(key: number): RawClient {
    return (this.#clients.get(key) as { readonly client: RawClient }).client;
  }

  /** Another is answered once all have gone, and a stop finds nothing to wait for. */
  async isAtRest(): Promise<boolean> {
    for (const { client } of this.#clients.values()) client.leave();
    await this.settle();
    const other = await RawClient.to(this.#port);
    const { body } = await other.ask("GET /ok", ["connection: close"]).answer();
    return body === "ok" && (await this.#server?.stop()) === 0;
  }
}

/** Fills the budget wholly, and gives it back: it is all there, and not a byte more. */
export async function fills(world: FetchWorld | NodeWorld, from: number): Promise<void> {
  const bodies = [maxBody, bodyBudget - maxBody];
  const asked = bodies.map(
    (length, i) => ({ key: from + i, kind: "whole", peer: `10.0.1.${i}`, chunked: true, length, sent: 0 }) as Asked,
  );
  const over = {
    key: from + bodies.length,
    kind: "whole",
    peer: "10.0.1.9",
    chunked: true,
    length: 1,
    sent: 0,
  } as Asked;
  for (const one of [...asked, over]) {
    await world.ask(one);
    world.send(one, one.length);
    await world.settle();
  }
  expect(world.answerOf(over)?.status).toBe(503);
  for (const one of asked) {
    expect(world.answerOf(one)).toBeUndefined();
    world.end(one);
    world.open(one);
  }
  await world.settle();
  for (const one of asked) expect(world.answerOf(one)).toEqual({ status: 200, body: String(one.length) });
}

/**
 * The same over a connection of HTTP/2, whose client resets its stream, sends GOAWAY or goes away, before, in the middle and after:
 * each act of a request's end happens once.
 */
import { once } from "node:events";
import { constants } from "node:http2";
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { connect } from "node:net";
import type { Socket } from "node:net";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { RequestState } from "../../src/app/request.ts";
import { figures } from "../../src/telemetry/measure.ts";
import { holdClock, settle } from "../support/clock.ts";
import { comes, eventually, held } from "../support/eventually.ts";
import { http2Ask, http2Client } from "../support/http2-client.ts";
import { forgetLines, lines } from "../support/logs.ts";
import { start } from "../support/node-server.ts";
import { Fate, connects, features, gates, partsOf, settled } from "./ends.ts";
import type { Features, Step } from "./ends.ts";
import { Played } from "./ends-played.ts";
import { played } from "./seeds.ts";

holdClock();

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } =
  constants;
const codes = [
  NGHTTP2_NO_ERROR,
  NGHTTP2_INTERNAL_ERROR,
  NGHTTP2_REFUSED_STREAM,
  NGHTTP2_CANCEL,
  NGHTTP2_ENHANCE_YOUR_CALM,
] as const;

/** How the client leaves: its stream, or its connection. */
type Leave =
  | { readonly how: "reset" | "goaway"; readonly code: number }
  /** Its end of the connection is closed, or lost. */
  | { readonly how: "end" | "lost" };

interface Http2Features extends Features {
  readonly leave: Leave;
  /** Nothing of a body is sent to the client before it reads. */
  readonly hasWindow: boolean;
}

const code = fc.constantFrom(...codes);
const leaves: fc.Arbitrary<Leave> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ how: fc.constant("reset" as const), code }) },
  { weight: 1, arbitrary: fc.record({ how: fc.constant("goaway" as const), code }) },
  { weight: 1, arbitrary: fc.record({ how: fc.constantFrom("end" as const, "lost" as const) }) },
);

/** All that happens to a request, its client's leaving in between. A connection of HTTP/2 is not taken over. */
const http2Features: fc.Arbitrary<Http2Features> = fc
  .tuple(
    features.filter(({ answers }) => !answers.endsWith("takeover")),
    fc.record({ leave: leaves, hasWindow: fc.boolean(), partAt: fc.nat(), leaveAt: fc.nat() }),
  )
  .map(([one, { partAt, leaveAt, ...more }]) => {
    const order: Step[] = one.order.filter((step) => step !== "leave");
    const rest = (["body", ...gates] as const).filter((step) => !order.includes(step));
    order.push(...rest);
    order.splice(partAt % (order.length + 1), 0, "body part");
    order.splice(leaveAt % (order.length + 1), 0, "leave");
    return { ...one, ...more, order };
  });

const handshake = { ":method": "CONNECT", ":protocol": "websocket", "sec-websocket-version": "13" };
/** A close frame of a client, masked with zeros. */
const close = Buffer.of(0x88, 0x80, 0, 0, 0, 0);
const window = 65_535;

/** A request over HTTP/2. */
class Http2Played extends Played {
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #stream: ClientHttp2Stream;
  readonly #leave: Leave;
  readonly #hasBody: boolean;
  readonly #closed: Promise<unknown>;
  /** What its client got; undefined before the head of the response. */
  status: number | undefined = undefined;
  type: string | undefined = undefined;
  #sentParts = 0;
  /** Whether the connection ends: it answers no PING then, and the server closes it by its clock. */
  #isEnding = false;

  constructor(one: Http2Features, session: ClientHttp2Session, socket: Socket, fate: Fate) {
    super(fate);
    this.#socket = socket;
    this.#session = session;
    this.#leave = one.leave;
    this.#hasBody = !connects(one) && one.method === "POST" && one.readsBody;
    const key = one.hasKey ? { "idempotency-key": '"k"' } : {};
    const asked = connects(one) ? handshake : { ":method": one.method, "content-type": "application/json", ...key };
    const stream = session.request({ ...asked, ":path": "/x" }, { endStream: !this.#hasBody && !connects(one) });
    this.#stream = stream;
    this.#closed = once(stream, "close").catch(() => {});
    stream.on("error", () => {});
    stream.on("response", (headers) => {
      this.status = Number(headers[":status"]);
      this.type = headers["content-type"];
      if (connects(one) && this.status === 200) this.#answerClose();
    });
  }

  override async does(step: Step): Promise<void> {
    await super.does(step);
    await this.#arrives();
  }

  async ended(): Promise<{ readonly status: number; readonly type: string | null }> {
    this.read();
    await comes("the end of the stream", this.#closed);
    return { status: this.status ?? 0, type: this.type ?? null };
  }

  protected override sendPart(): void {
    this.#write(1);
  }

  protected send(): void {
    this.#write(2);
  }

  protected read(): void {
    if (!this.#session.destroyed) this.#session.settings({ initialWindowSize: window });
    this.#stream.resume();
  }

  protected leave(): void {
    const leave = this.#leave;
    this.#isEnding ||= leave.how !== "reset";
    if (leave.how === "reset") this.#stream.close(leave.code);
    else if (leave.how === "goaway" && !this.#session.destroyed) this.#session.goaway(leave.code);
    else if (leave.how === "end") this.#session.destroy();
    else if (leave.how === "lost") this.#socket.resetAndDestroy();
  }

  /** Sends the parts of the body up to one. */
  #write(upTo: number): void {
    if (!this.#hasBody || this.#stream.destroyed || this.#stream.closed) return;
    for (; this.#sentParts < upTo; this.#sentParts++)
      if (this.#sentParts === 0) this.#stream.write('"se');
      else this.#stream.end('nt"');
  }

  #answerClose(): void {
    this.#stream.on("data", (part: Buffer) => {
      // Nothing else is sent by these handlers.
      if (part[0] === 0x88 && this.#stream.writable) this.#stream.end(close);
    });
  }

  /** The server has what was sent until now. */
  async #arrives(): Promise<void> {
    if (this.#isEnding || this.#session.destroyed || this.#session.closed) return settle();
    const pong = new Promise<void>((resolve) => {
      // Called with an error where the session ends.
      if (!this.#session.ping(() => resolve())) resolve();
    });
    await comes("the answer to a PING", pong);
    await settle();
  }
}

async function play(one: Http2Features): Promise<void> {
  forgetLines();
  const fate = new Fate();
  const { routes, options } = partsOf(one, fate);
  const freezes = vi.spyOn(RequestState.prototype, "freeze");
  const server = await start(routes, { ...options, http2: true });
  const settings = { initialWindowSize: one.hasWindow ? window : 0 };
  const socket = connect(server.port, "127.0.0.1").on("error", () => {});
  const session = await http2Client(server.url, { settings, createConnection: () => socket });
  if (!session.remoteSettings.enableConnectProtocol && connects(one))
    await comes("its SETTINGS", once(session, "remoteSettings"));
  const request = new Http2Played(one, session, socket, fate);
  for (const step of one.order) await request.does(step);
  await settle();
  await request.does("middleware's second");
  const { status, type } = await request.ended();
  // Behind the end it changes nothing.
  await request.does("leave");
  const none = { requests: 0, bodyBytes: 0, tasks: 0, works: 0 };
  await eventually(() => {
    expect({ ...figures, open: fate.open }).toEqual({ ...none, open: 0 });
    expect([fate.released, fate.tasks]).toEqual([fate.acquired, fate.asked]);
  });
  expect(fate.releases).toEqual(["first", "second"].slice(0, fate.acquired).toReversed());
  expect(new Set(fate.kept).size).toBe(fate.kept.length);
  if (one.deadline === "none") expect(fate.kept).toEqual(settled(one, fate));
  expect(type).not.toBe("application/json");
  const ofIt = lines().filter(({ message }) => /^[A-Z]+ \/x \d+$/.test(String(message)));
  // A stream that was reset with its head is no request.
  const asked = freezes.mock.calls.length;
  expect(asked).toBeLessThanOrEqual(1);
  if (status !== 0) expect(asked).toBe(1);
  expect(ofIt).toHaveLength(asked);
  // The line of a socket has the status that it has everywhere (RFC 8441 §5 opens it with a 200).
  const told = connects(one) && status === 200 ? 101 : status;
  if (status !== 0) expect(ofIt[0]?.["http.response.status_code"]).toBe(told);
  freezes.mockRestore();
  // Its place is free.
  const nextSession = await comes("the next connection", http2Client(server.url));
  const next = await comes("the next answer", http2Ask(nextSession, { ":path": "/none" }));
  expect(next.status).not.toBe(503);
  session.destroy();
  await comes("the server's end", server.stop());
}

it("over HTTP/2 nothing is left of a request, however its client leaves", async () => {
  await held(fc.assert(fc.asyncProperty(http2Features, play), played(100)));
});

/** An app in an existing server of `node:http`: that server listens and stops. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { needsApp } from "../../src/arguments.ts";
import type { App } from "../../src/doors/apps.ts";
import { logRefusedHead } from "../../src/doors/apps.ts";
import { internalRefusal } from "../../src/refusals.ts";
import { bodyTooLarge, noRoom } from "../../src/doors/inputs.ts";
import type { BodyReceiver, BodySource } from "../../src/doors/inputs.ts";
import { attempt, caught, useSink } from "../../src/doors/logging.ts";
import { Deadlines, CutLogs, limitsOf, SendBudget } from "../../src/doors/server.ts";
import type { ListenOptions } from "../../src/doors/server.ts";
import type { Framing } from "./bad-request.ts";
import { Connections } from "./connection.ts";
import { NodeExchange, awaitsContinue } from "./exchange.ts";
import { RequestHandler } from "./handler.ts";
import { stderrSink } from "./listen.ts";
import { leavesContinue } from "./private.ts";
import { unsentOf } from "./recipient.ts";
import { LeftHandshakes, Upgrades, isForOthers } from "./upgrade.ts";

/** Members that other servers and middleware set on a request. */
interface HostedRequest extends IncomingMessage {
  /** The target as sent, where a prefix was removed: Express, Connect. */
  readonly originalUrl?: unknown;
  /** The bytes of a body that was read: serverless hosts. */
  readonly rawBody?: unknown;
  /** The parsed body; bytes from Express's `raw`. */
  readonly body?: unknown;
}

/** An exchange in another server, which may have read the body already. */
class MountedExchange extends NodeExchange {
  override readonly target: string;
  readonly isMounted = true;
  #body: BodySource | undefined = undefined;

  constructor(
    request: HostedRequest,
    response: ServerResponse,
    framing: Framing,
    deadlines: Deadlines,
    expectsContinue: boolean,
  ) {
    super(request, response, framing, deadlines, expectsContinue);
    const { originalUrl } = request;
    this.target = typeof originalUrl === "string" ? originalUrl : (request.url as string);
  }

  override get listener(): string {
    return "a server that it is mounted in";
  }

  override get isOurs(): boolean {
    return false;
  }

  override get body(): BodySource | undefined {
    return (this.#body ??= this.#isTaken() ? readBefore(this.request) : this.incoming);
  }

  /** Whether earlier middleware has read the body, or set an encoding, which loses its bytes. */
  #isTaken(): boolean {
    const { readableDidRead, readableEncoding } = this.request;
    return readableDidRead || (readableEncoding ?? null) !== null;
  }
}

function readBefore(request: HostedRequest): BodySource {
  for (const bytes of [request.rawBody, request.body]) if (bytes instanceof Uint8Array) return new ReadBody(bytes);
  throw internalRefusal("its body was read by what is mounted ahead of the app, which left no bytes of it");
}

const maxPartBytes = 65_536;

/** A body that other code has read. */
class ReadBody implements BodySource {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get length(): number {
    return this.#bytes.byteLength;
  }

  read(): Promise<Uint8Array | undefined> {
    const part = this.#bytes.subarray(this.#at, this.#at + maxPartBytes);
    this.#at += part.byteLength;
    return Promise.resolve(part.byteLength === 0 ? undefined : part);
  }

  whole(limit: number, receiver: BodyReceiver): void {
    if (this.length > limit) receiver.done(bodyTooLarge);
    else receiver.done(receiver.take(this.length) ? this.#bytes : noRoom);
  }
}

/** How long an app in another server waits for a client. The other options are that server's. */
export type ListenerOptions = Pick<
  ListenOptions,
  "bodyTimeoutMs" | "minBodyRate" | "sendTimeoutMs" | "minSendRate" | "sendBudget" | "sendShare"
>;

/** An app for an existing server: its request listener, and its listener of `upgrade`. */
export interface AppListener {
  /** Answers a request. */
  (request: IncomingMessage, response: ServerResponse): void;
  /**
   * Opens the WebSockets of the app's routes: `server.on("upgrade", answer.upgrade)`. Where the server has other listeners of
   * `upgrade`, such as Socket.IO's, the handshake of a WebSocket for another path is left to them. If they write nothing for
   * `sendTimeoutMs`, its connection is closed. Any other upgrade is answered as a plain request.
   */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/**
 * An app as a request listener, for an existing server of `node:http` or `node:https`; Express takes it as middleware. It
 * answers every request and never calls the next middleware. The server listens and stops, and has its own limits of heads
 * and connections. `app.drain()` makes the app report that it is not ready, and ends its event streams.
 *
 * Routes have whole paths: where the server removed a prefix (`req.originalUrl`), the app sees the target as sent. Mount it
 * before middleware that reads bodies. After it, the body is taken from `req.rawBody` or a `req.body` of bytes, and without
 * these the response is a 500.
 *
 * @throws RangeError for an option out of its range.
 *
 * @example
 * ```ts
 * const app = App.make(routes);
 * const answer = listener(app);
 * const server = createServer(answer).on("upgrade", answer.upgrade).listen(8080);
 * ```
 */
export function listener(app: App, options: ListenerOptions = {}): AppListener {
  needsApp("listener: its app", app);
  const limits = limitsOf(options, "listener");
  const { sendTimeoutMs } = limits;
  const deadlines = new Deadlines(limits);
  const cuts = new CutLogs(limits);
  const budget = new SendBudget(limits, deadlines, (why) => cuts.count(why));
  const connections = new Connections({ sendTimeoutMs, unsentOf: unsentOf(budget, app) });
  const handler = new MountedHandler(app, { deadlines, unsent: budget, sendTimeoutMs }, connections);
  useSink(stderrSink());
  deadlines.start();
  // The package `ws` is loaded where a route needs it, and the first handshake reports that it is missing.
  const upgrades = Upgrades.of(handler);
  upgrades.catch(() => {});
  const left = new LeftHandshakes(sendTimeoutMs);
  app.onDrain(() => {
    left.stop();
    void upgrades.then(
      (opened) => {
        opened?.sockets.stop();
        opened?.takeovers.stop();
      },
      () => {},
    );
    // The server is about to close, which an idle connection would delay.
    handler.stopping = true;
    // Their producers are notified, and their clients see the end.
    handler.streams.stop();
  });
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    // Its connection is of other requests, too, and is not to be closed.
    if (request.httpVersionMajor === 2) {
      logRefusedHead(505, "HTTP/2, which `serve` and `usher-http/whatwg` answer");
      response.writeHead(505).end();
      return;
    }
    handler.answer(request, response, leavesContinue(response) && awaitsContinue(request, response));
  };
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    attempt(request.socket, () => {
      // From now on, since an unhandled `error` of the connection would end the process.
      connections.of(request.socket);
      if (isForOthers(handler, request)) return left.add(request);
      upgrades.then((opened) => opened?.answer(request, head)).catch((thrown: unknown) => caught(thrown, socket));
    });
  };
  return Object.assign(answer, { upgrade });
}

class MountedHandler extends RequestHandler {
  override readonly isMounted = true;

  protected override exchange(
    request: IncomingMessage,
    response: ServerResponse,
    framing: Framing,
    expectsContinue: boolean,
  ): NodeExchange {
    return new MountedExchange(request, response, framing, this.deadlines, expectsContinue);
  }
}

import type { StreamEnd, StreamRequest } from "../events/stream.ts";
import { within } from "../logging/context.ts";
import type { LogFields, Level } from "../logging/entry.ts";
import { log } from "../logging/writer.ts";
import type { SocketRequest } from "../sockets/open-socket.ts";
import { logUndeclared } from "./access-log.ts";
import { failureOf } from "./failures.ts";
import type { RaisedFailure } from "./failures.ts";
import type { RequestState } from "./request.ts";

const source = "framework.http";

// A wrong body is a bug of the application, and its response on the wire is incomplete.
const wrong: { readonly [End in StreamEnd]?: string } = {
  short: "sent less than the length it was given, so its connection is closed",
  long: "sent more than the length it was given, so its connection is closed",
  failed: "failed, so its connection is closed",
};

const asItIs: RaisedFailure = { level: "error", why: "", fields: {} };

/** Runs the producer of a streamed body in its request's context, and logs how the stream ended. */
export class StreamLog implements StreamRequest {
  readonly #request: RequestState;
  readonly #startedAt = performance.now();
  #isOver = false;

  constructor(request: RequestState) {
    this.#request = request;
  }

  run<A>(work: () => A): A {
    return within(this.#request, work);
  }

  undeclared(did: string): void {
    const request = this.#request;
    const what = `${request.route?.route.pattern ?? request.path} ${did}`;
    request.exchange.undeclared?.(what);
    logUndeclared(request, what);
  }

  ended(how: StreamEnd, thrown?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { path, context } = this.#request;
    const problem = wrong[how];
    if (problem !== undefined) {
      const { level, why, fields } = how === "failed" ? failureOf(thrown) : asItIs;
      log({
        level,
        source,
        message: `stream on ${path} ${problem}${why}`,
        fields: { "url.path": path, ...fields },
        context,
      });
      return;
    }
    const duration = Math.round((performance.now() - this.#startedAt) * 1e6);
    const fields = { "url.path": path, duration, "framework.stream.ended": how };
    log({ level: "info", source, message: `stream on ${path} ended: ${how}`, fields, context });
  }
}

/** The log field with the end of a connection, by its kind. */
const kinds = { socket: "framework.websocket.ended", takeover: "framework.takeover.ended" } as const;

/** Runs the handler of a socket or a takeover in its request's context, and logs how the connection ended. */
export class ConnectionLog implements SocketRequest {
  readonly #request: RequestState;
  readonly #kind: keyof typeof kinds;
  readonly #startedAt = performance.now();

  constructor(request: RequestState, kind: keyof typeof kinds) {
    this.#request = request;
    this.#kind = kind;
  }

  run<A>(work: () => A): A {
    return within(this.#request, work);
  }

  warn(message: string): void {
    this.#say("warn", `${this.#request.route?.route.pattern} ${message}`, {});
  }

  raised(thrown: unknown): void {
    const { level, why, fields } = failureOf(thrown);
    this.#say(level, `${this.#kind} on ${this.#request.path}: its handler raised${why}`, fields);
  }

  ended(how: string): void {
    const duration = Math.round((performance.now() - this.#startedAt) * 1e6);
    this.#say("info", `${this.#kind} on ${this.#request.path} ended: ${how}`, { duration, [kinds[this.#kind]]: how });
  }

  #say(level: Level, message: string, fields: LogFields): void {
    const { path, context } = this.#request;
    log({ level, source: "framework.http", message, fields: { "url.path": path, ...fields }, context });
  }
}

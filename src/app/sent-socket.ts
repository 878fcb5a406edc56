import { within } from "../logging/context.ts";
import type { Level } from "../logging/level.ts";
import type { Fields } from "../logging/entry.ts";
import { log } from "../logging/writer.ts";
import type { SocketRequest } from "../streams/sockets/speak.ts";
import type { AskedExchange } from "./asked.ts";
import { failureOf } from "./failure.ts";

/** What a connection became: its word in the log, and the field of how it ended. */
const kinds = { socket: "framework.websocket.ended", takeover: "framework.takeover.ended" } as const;

/** What a connection became, and the request that it did by: whose context it is spoken in, and how it ended. */
export class SentSocket implements SocketRequest {
  readonly #asked: AskedExchange;
  readonly #kind: keyof typeof kinds;
  readonly #startedAt = performance.now();

  constructor(asked: AskedExchange, kind: keyof typeof kinds) {
    this.#asked = asked;
    this.#kind = kind;
  }

  run<A>(work: () => A): A {
    return within(this.#asked, work);
  }

  warn(message: string): void {
    this.#say("warn", `${this.#asked.route?.route.pattern} ${message}`, {});
  }

  raised(thrown: unknown): void {
    const { level, why, fields } = failureOf(thrown);
    this.#say(level, `${this.#kind} on ${this.#asked.path}: its handler raised${why}`, fields);
  }

  ended(how: string): void {
    const duration = Math.round((performance.now() - this.#startedAt) * 1e6);
    this.#say("info", `${this.#kind} on ${this.#asked.path} ended: ${how}`, { duration, [kinds[this.#kind]]: how });
  }

  #say(level: Level, message: string, fields: Fields): void {
    const { path, context } = this.#asked;
    log({ level, source: "framework.http", message, fields: { "url.path": path, ...fields }, context });
  }
}

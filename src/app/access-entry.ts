import type { Answer } from "../answers/answer.ts";
import type { Entry, Fields } from "../logging/entry.ts";
import type { Level } from "../logging/level.ts";
import { quoted } from "../logging/line.ts";
import type { AskedExchange } from "./asked.ts";

/** A request's access line (contract 2.12). Every request has one, so its JSON is put together by hand. */
export class AccessEntry implements Entry {
  readonly level: Level;
  readonly source = "framework.http";
  readonly message: string;
  readonly context: AskedExchange;
  readonly #status: number;
  readonly #code: string | undefined;
  readonly #size: number;
  /** Nanoseconds: how long the answer took to make, and not to write. */
  readonly #duration: number;

  constructor(level: Level, asked: AskedExchange, { status, refused }: Answer, size: number) {
    this.level = level;
    this.message = `${asked.method} ${asked.path} ${status}`;
    this.context = asked;
    this.#status = status;
    this.#code = refused?.code.name;
    this.#size = size;
    this.#duration = Math.round((performance.now() - asked.startedAt) * 1e6);
  }

  get fields(): Fields {
    const { method, path, route } = this.context;
    return {
      "http.request.method": method,
      "url.path": path,
      "http.response.status_code": this.#status,
      duration: this.#duration,
      "http.response.body.size": this.#size,
      "http.route": route?.route.pattern,
      "framework.refusal.code": this.#code,
    };
  }

  get members(): string {
    const { method, path, route } = this.context;
    const request = `,"http.request.method":${quoted(method)},"url.path":${quoted(path)}`;
    const answer = `,"http.response.status_code":${this.#status},"duration":${this.#duration},"http.response.body.size":${this.#size}`;
    const code = this.#code === undefined ? "" : `,"framework.refusal.code":${quoted(this.#code)}`;
    return `${request}${answer}${route?.member ?? ""}${code}`;
  }
}

import type { Answer } from "../answers/answer.ts";
import type { Entry, Fields, LogContext } from "../logging/entry.ts";
import type { Level } from "../logging/level.ts";
import { escaped, jsonContext, timestamp } from "../logging/line.ts";
import type { AskedExchange } from "./asked.ts";

/** A request's access line (contract 2.12). Every request has one, so its JSON is put together by hand. */
export class AccessEntry implements Entry {
  readonly level: Level;
  readonly source = "framework.http";
  readonly #asked: AskedExchange;
  readonly #status: number;
  readonly #code: string | undefined;
  readonly #size: number;
  /** Nanoseconds: how long the answer took to make, and not to write. */
  readonly #duration: number;

  constructor(level: Level, asked: AskedExchange, { status, refused }: Answer, size: number) {
    this.level = level;
    this.#asked = asked;
    this.#status = status;
    this.#code = refused?.code.name;
    this.#size = size;
    this.#duration = Math.round((performance.now() - asked.startedAt) * 1e6);
  }

  get context(): LogContext {
    return this.#asked.context;
  }

  get message(): string {
    return `${this.#asked.method} ${this.#asked.path} ${this.#status}`;
  }

  get fields(): Fields {
    const { method, path, route } = this.#asked;
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

  json(at: number): string {
    const asked = this.#asked;
    const method = escaped(asked.method);
    const path = escaped(asked.path);
    const status = this.#status;
    const code = this.#code === undefined ? "" : `,"framework.refusal.code":"${escaped(this.#code)}"`;
    return (
      `{"timestamp":"${timestamp(at)}","level":"${this.level}","logger.name":"framework.http",` +
      `"message":"${method} ${path} ${status}"${jsonContext(asked.context)},"http.request.method":"${method}",` +
      `"url.path":"${path}","http.response.status_code":${status},"duration":${this.#duration},` +
      `"http.response.body.size":${this.#size}${asked.route?.member ?? ""}${code}}`
    );
  }
}

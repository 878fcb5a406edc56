import type { Answer } from "../answers/answer.ts";
import type { Entry, Fields, LogContext } from "../logging/entry.ts";
import type { Level } from "../logging/level.ts";
import { escaped, jsonContext, timestamp } from "../logging/line.ts";
import type { AskedExchange } from "./asked.ts";
import type { AccessTexts } from "./compiled.ts";
import { codeOf, replacedCode } from "./middleware.ts";

/** A request's access line (contract 2.12). Every request has one, so its JSON is put together by hand. */
export class AccessEntry implements Entry {
  readonly level: Level;
  readonly source = "framework.http";
  readonly #asked: AskedExchange;
  readonly #status: number;
  readonly #code: string | undefined;
  readonly #replaced: string | undefined;
  readonly #size: number;
  /** Nanoseconds: how long the answer took to make, and not to write. */
  readonly #duration: number;

  constructor(level: Level, asked: AskedExchange, { status, refused }: Answer, size: number) {
    this.level = level;
    this.#asked = asked;
    this.#status = status;
    this.#code = codeOf(asked.inside, refused);
    this.#replaced = replacedCode(asked.inside, refused);
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
      "framework.refusal.replaced": this.#replaced,
    };
  }

  json(at: number): string {
    const { path, context } = this.#asked;
    const { level, status, method, code, route } = this.#texts();
    const shown = escaped(path);
    return (
      `{"timestamp":"${timestamp(at)}${level}${shown}${status}${jsonContext(context)}${method}${shown}${code}` +
      `${this.#duration},"http.response.body.size":${this.#size}${route}`
    );
  }

  /** A route's are made again only where its answers change their status: they are half of the pieces of a line. */
  #texts(): AccessTexts {
    const { method, route } = this.#asked;
    if (this.#code !== undefined || route === undefined || method !== route.route.method) return this.#textsAnew();
    const { accessTexts } = route;
    if (accessTexts?.for === this.#status) return accessTexts;
    return (route.accessTexts = this.#textsAnew());
  }

  #textsAnew(): AccessTexts {
    const status = this.#status;
    const method = escaped(this.#asked.method);
    const pattern = this.#asked.route?.route.pattern;
    const route = pattern === undefined ? "" : `,"http.route":${JSON.stringify(pattern)}`;
    const code = member("framework.refusal.code", this.#code) + member("framework.refusal.replaced", this.#replaced);
    return {
      for: status,
      level: `","level":"${this.level}","logger.name":"framework.http","message":"${method} `,
      status: ` ${status}"`,
      method: `,"http.request.method":"${method}","url.path":"`,
      code: `","http.response.status_code":${status},"duration":`,
      route: `${route}${code}}`,
    };
  }
}

function member(name: string, value: string | undefined): string {
  return value === undefined ? "" : `,"${name}":"${escaped(value)}"`;
}

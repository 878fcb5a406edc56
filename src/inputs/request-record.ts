import { stripped } from "../codecs/white-space.ts";
import { firstValue, everyValue } from "./query-text.ts";
import type { Asked, RequestRecord } from "./asked.ts";

/** The request as an application sees it; nothing is copied before it is asked for. */
export function recordOf(asked: Asked): RequestRecord {
  return new AskedRecord(asked);
}

class AskedRecord implements RequestRecord {
  readonly #asked: Asked;

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  get id(): string {
    return this.#asked.id;
  }
  get method(): string {
    return this.#asked.method;
  }
  get target(): string {
    return this.#asked.target;
  }
  get path(): string {
    return this.#asked.path;
  }
  get host(): string | undefined {
    return this.#asked.host;
  }
  get peer(): string {
    return this.#asked.peer;
  }
  get client(): string {
    return this.#asked.client;
  }
  get secure(): boolean {
    return this.#asked.secure;
  }
  get now(): Date {
    return this.#asked.now;
  }
  get headers(): Iterable<readonly [name: string, value: string]> {
    return this.#asked.headers();
  }

  query(name: string): string | undefined {
    return firstValue(this.#asked.search, name) ?? undefined;
  }

  queries(name: string): readonly string[] {
    return everyValue(this.#asked.search, name).filter((text) => text !== null);
  }

  header(name: string): string | undefined {
    const lines = this.#asked.lines(name.toLowerCase());
    return lines.length === 0 ? undefined : stripped(lines.join(", "));
  }

  cookie(name: string): string | undefined {
    return this.#asked.cookie(name);
  }
}

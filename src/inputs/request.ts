import type { SetCookie } from "../codecs/cookie.ts";
import type { MaybePromise } from "../deferred.ts";
import { stripped } from "../http/fields.ts";
import type { Code, Refusal } from "../refusals.ts";
import type { BodyHolder, BodySource } from "./body-source.ts";
import { everyValue, firstValue } from "./text.ts";
import type { FieldNames, FieldValues } from "./text.ts";

/** One request as its inputs read it. What is costly to know is found when it is first asked for. */
export interface InputRequest {
  /** The request's id, on its answer and on every line logged for it. */
  readonly id: string;
  readonly method: string;
  /** As sent: path and query, percent-encoded. */
  readonly target: string;
  readonly path: string;
  /** The query's text without its `?`. */
  readonly search: string;
  /** What the query gives for a route's fields. */
  query(names: FieldNames): FieldValues;
  /** The segments the route's parameters took, as sent, in the path's order; a rest's are joined with `/`. */
  readonly captured: readonly string[];
  readonly host: string | undefined;
  readonly peer: string;
  readonly client: string;
  readonly secure: boolean;
  readonly now: Date;
  /** The values of a header, one for each line; `name` in lower case. */
  lines(name: string): readonly string[];
  headers(): Iterable<readonly [name: string, value: string]>;
  cookie(name: string): string | undefined;
  readonly body: BodySource | undefined;
  /** Reads the body whole into `bytes`, and goes on with why it could not be had, if so. */
  readWhole<A>(next: (refusal: Refusal | undefined) => MaybePromise<A>): MaybePromise<A>;
  /** Makes what reads the body as it arrives, and closes it with the answer. Throws where it is read another way too. */
  openBody<Reader extends { close(): void }>(
    make: (source: BodySource | undefined, holder: BodyHolder) => Reader,
  ): Reader;
  /** How many problems an answer lists. */
  readonly maxProblems: number;
  readonly bytes: Uint8Array;
  /** `bytes` as UTF-8; undefined where they are none. */
  readonly text: string | undefined;
  /** The codes of an input found only while the request runs: declared, like those the route lists. */
  declare(codes: readonly Code[]): void;
  /** What the app was supplied with under a name. */
  resource(name: string): unknown;
  setCookie(cookie: SetCookie): void;
  addHeader(name: string, value: string): void;
  readonly gone: AbortSignal;
  /** The server takes no further connections. */
  readonly isStopping: boolean;
}

/** The request as an application sees it: `request`, a not-found answer, and what reads by `Dep.ofRequest`. */
export interface RequestRecord {
  readonly id: string;
  readonly method: string;
  /** The request target as sent. */
  readonly target: string;
  /** The target's path, still percent-encoded. */
  readonly path: string;
  /** `Host`, or the authority of an absolute target, in lower case. */
  readonly host: string | undefined;
  /** The address that opened the connection: the proxy, when there is one. */
  readonly peer: string;
  /** The peer, or the address a trusted proxy forwarded for. */
  readonly client: string;
  /** Whether the client came by HTTPS, as far as can be known. */
  readonly secure: boolean;
  /** One instant for the whole request. */
  readonly now: Date;
  /** The first value given. */
  query(name: string): string | undefined;
  queries(name: string): readonly string[];
  /** Without case; the lines of a repeated header are joined with `, `. */
  header(name: string): string | undefined;
  /** In the order sent, names in lower case. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  cookie(name: string): string | undefined;
}

/** What an input reads itself, for the API document. */
export type Need =
  | { readonly in: "query" | "header" | "cookie"; readonly name: string; readonly required?: boolean }
  | { readonly custom: string };

/** The request as an application sees it; nothing is copied before it is asked for. */
export function recordOf(asked: InputRequest): RequestRecord {
  return new AskedRecord(asked);
}

class AskedRecord implements RequestRecord {
  readonly #asked: InputRequest;

  constructor(asked: InputRequest) {
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

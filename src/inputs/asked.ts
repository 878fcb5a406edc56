import type { Code } from "../refusals/code.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { SetCookie } from "../cookies/cookie.ts";
import type { BodyHolder } from "./body-reader.ts";
import type { Soon } from "./later.ts";
import type { BodySource } from "./body-source.ts";
import type { FieldNames, FieldValues } from "./query-text.ts";

/** One request as its inputs read it. What is costly to know is found when it is first asked for. */
export interface Asked {
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
  readWhole<A>(next: (refusal: Refusal | undefined) => Soon<A>): Soon<A>;
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

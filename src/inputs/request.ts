import type { SetCookie } from "../codecs/cookie.ts";
import type { Answer } from "../exchange/answer.ts";
import { fieldValue } from "../http/fields.ts";
import { decodedPath, decodedSegments } from "../http/target.ts";
import type { Code, Refusal } from "../refusals.ts";
import type { MaybePromise } from "../deferred.ts";
import type { Caller } from "../fair-store.ts";
import type { Carrying } from "../logging/context.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { BodyHolder, BodySource } from "./body-source.ts";
import type { BodyDecoding } from "./encoded-body.ts";
import type { CertificateHolder } from "./peer-certificate.ts";
import { everyValue, firstValue } from "./text.ts";
import type { FieldNames, FieldValues } from "./text.ts";
import type { RequestValidity } from "./validity.ts";

/** One request as its inputs read it. Expensive members are computed on first use. */
export interface InputRequest {
  /** The request's id, which its response and every log line have. */
  readonly id: string;
  readonly method: string;
  /** As sent: path and query, percent-encoded. */
  readonly target: string;
  /** The target's path, percent-encoded. */
  readonly rawPath: string;
  /** The query without its `?`. */
  readonly search: string;
  /** The values of a route's query fields. */
  query(names: FieldNames): FieldValues;
  /** The raw segments of the route's parameters, in the path's order; those of a rest are joined with `/`. */
  readonly captured: readonly string[];
  readonly host: string | undefined;
  readonly peer: string;
  /** Where the input `peerCertificate` finds the certificate, and what a runtime lets run after the answer. */
  readonly exchange: CertificateHolder & { keepAlive?(work: Promise<unknown>): void };
  readonly client: string;
  /** The network of the client, which has one share of what is bounded; undefined where no address is known. */
  readonly network: string | undefined;
  readonly secure: boolean;
  readonly secureCookies: boolean;
  readonly now: Date;
  /** The same instant for the application, which may change the `Date`. */
  readonly givenNow: Date;
  /** The values of a header, one for each line; `name` in lower case. */
  lines(name: string): readonly string[];
  headers(): Iterable<readonly [name: string, value: string]>;
  cookie(name: string): string | undefined;
  readonly body: BodySource | undefined;
  /** The app's limit of a body, in bytes. */
  readonly maxBody: number;
  /** The beginning of the path that a trusted proxy removed; empty where none did. */
  readonly prefix: string;
  /**
   * Makes a reader for the body stream, and closes it. Throws where the body is also read in another way.
   *
   * @param until When it is closed: with the handler, unless given, or once the response has been sent.
   */
  openBody<Reader extends OpenBody>(
    make: (source: BodySource | undefined, holder: BodyHolder) => Reader,
    until?: "handled" | "replied",
  ): Reader;
  /** The largest number of problems in a response. */
  readonly maxProblems: number;
  readonly bytes: Uint8Array;
  /** `bytes` as UTF-8 text; undefined where they are not UTF-8. */
  readonly text: string | undefined;
  /** Declares the codes of an input that was chosen during the request. */
  declare(codes: readonly Code[]): void;
  /** The value of a resource. */
  resource(name: string): unknown;
  setCookie(cookie: SetCookie): void;
  addHeader(name: string, value: string): void;
  /** Sends values of `Link` before the answer, where the listener can. */
  sendEarlyHints(links: readonly string[]): void;
  /** Changes the route's answer, unless that is a refusal; the last change counts. */
  changeAnswer(change: (answer: Answer) => Answer): void;
  /** The tasks that run once the answer is on its way. */
  later(): TaskList;
  /** A value is being acquired: what it is made from is not released before it is settled. */
  acquires(value: Promise<unknown>): void;
  /** Keeps what an input acquired, to be released once the request has ended. */
  hold(held: Held): void;
  /** How long what the inputs checked is valid; undefined where none gave that. */
  validity: RequestValidity | undefined;
  /** Puts a guard before the handler. */
  guardHandler(guard: HandlerGuard): void;
  readonly gone: AbortSignal;
  /** Aborts once the request's deadline has passed; undefined where it has none. */
  readonly deadlineSignal: AbortSignal | undefined;
  /** The refusal of a request whose deadline has passed: nothing more is read for it. */
  readonly timedOut: Refusal | undefined;
  /** Its answer is made: no cookie and no header is added any more. */
  readonly isAnswered: boolean;
  /** The server accepts no new connections. */
  readonly isStopping: boolean;
}

/** A body that is being read part by part. */
export interface OpenBody {
  /** Whether it was read, but not to its end, and has not failed. Only a reader that outlives its handler has it. */
  readonly isBegun?: boolean;
  /** Returns whether a read waits. */
  close(): boolean;
}

/** What is read of a request's body, and held of it, as an app sees it. An input that reads a body brings it. */
export interface BodyInUse {
  /** The whole body, once it is read. */
  readonly bytes: Uint8Array;
  /** The body, without its coding where it has one. */
  readonly source: BodySource | undefined;
  /** Whether it did not fit into the budget: the rest is not read, and the connection ends. */
  readonly isOverBudget: boolean;
  /** Whether the handler reads it as it arrives. */
  readonly isOpen: boolean;
  /** Whether it is still being read while its response is sent. */
  readonly continuesReading: boolean;
  /** Looks at the coding of a body that will be read; a refusal if it is not one that the app reads. */
  openEncoding(): Refusal | undefined;
  /** Reads the whole body into `bytes`; resolves with a refusal if it could not be read. */
  readWhole(): MaybePromise<Refusal | undefined>;
  /** The handler reads it as it arrives. */
  open<Reader extends OpenBody>(
    make: (source: BodySource | undefined, holder: BodyHolder) => Reader,
    until: "handled" | "replied",
  ): Reader;
  /** The handler gets a guard, which is for a whole body: throws where the body is read as it arrives. */
  guarded(): void;
  /** The request is answered: nothing more is read, and nothing held, unless its response is made of it. */
  freeze(isCut: boolean): void;
  /** Nothing more is read, and nothing held. Returns whether a read waits. */
  close(): boolean;
  readTooLate(): void;
}

/** The request of a body that is read. */
export interface BodyRequest extends Carrying, Caller {
  readonly app: BodyLimits;
  readonly exchange: {
    readonly body: BodySource | undefined;
    readonly isInner?: boolean;
    lines(name: string): readonly string[];
  };
  /** Its route, and whether that reads `Content-Encoding` itself. */
  readonly route:
    | { readonly readsEncoding: boolean; readonly route: { readonly pattern: string; readonly inputs: InputsOfBody } }
    | undefined;
  readonly ending: { readonly at: { readonly isFrozen: boolean }; readonly guard: unknown };
  readonly maxBody: number;
  /** It waits for its body: another request may run in its place. */
  lendPlace(): void;
  /** Resolves once it may continue; undefined where it may at once. */
  awaitPlace(): Promise<void> | undefined;
  /** Logs a bug of the application that does not affect the client. */
  warn(did: string): void;
}

/** Inputs by name. One may read the body, itself or by what it is made from. */
export interface InputsOfBody {
  readonly [name: string]: {
    readonly node: { readonly body?: unknown; readonly from: readonly InputsOfBody[string][] };
  };
}

/** What an app says of bodies. */
interface BodyLimits {
  readonly maxBody: number;
  /** The most bytes of bodies that all requests hold. */
  readonly bodyBudget: number;
  /** The most of these bytes for one client. */
  readonly bodyShare: number;
  /** Counts the bytes that are held; made with the first body that is read. */
  budget: BodyBudget | undefined;
  /** How encoded bodies are read; undefined where they are refused. */
  readonly decompress: BodyDecoding | undefined;
}

/** The tasks of one request for after its answer. */
export interface TaskList {
  /** Throws `busy` where the app has too many of them. */
  add(run: (end: RequestEnd) => unknown, always: boolean): void;
}

/** How a request ended. */
export interface RequestEnd {
  /**
   * - `answered`: the answer was made, and its stream or its connection ended as it should.
   * - `refused`: the answer is a refusal, returned or thrown.
   * - `failed`: something raised: an input, the handler, the stream's producer, the handler of a socket.
   * - `timed out`: its deadline passed before its answer was made, or before its stream or its socket ended.
   * - `client gone`: the client left, or stopped reading, before the end of a stream; or a call that got `clientGone` rejected.
   * - `stopped`: the server stopped before the end of a stream; or a call rejected because of it, which got `clientGone`, or `stopping` of
   *   a takeover.
   */
  readonly how: "answered" | "refused" | "failed" | "timed out" | "client gone" | "stopped";
  /** The status that was sent. */
  readonly status: number;
  /** The name of the code of a refusal. */
  readonly code?: string | undefined;
}

/** What an input acquired for one request. */
export interface Held {
  /** Called with the handler's answer, before anything of it is sent. What it throws is the answer in its place. */
  readonly beforeAnswer?: ((refused: Refusal | undefined, hasFailed: boolean) => unknown) | undefined;
  /** Called once, after the answer was written or its stream ended. */
  readonly release: (end: RequestEnd) => unknown;
}

/**
 * Guards the handler of one request: it may answer instead, and gets what the handler answered. It is not one more `Held`: it reads the
 * answer before any value commits, and keeps it before or after all of them, whenever they were acquired.
 */
export interface HandlerGuard {
  /** Whether it keeps the answer in the transaction of the handler, or after that has committed. */
  readonly isTransaction: boolean;
  /** Whether what it lets through was answered before. */
  readonly isReplay: boolean;
  /** Whether the answer is not to be sent unless it is kept. */
  readonly mustKeep: boolean;
  /** Called once every input is valid. Resolves with the answer in place of the handler's; undefined where the handler runs. */
  enter(): Promise<Answer | undefined>;
  /** The handler has answered. Resolves with the answer whose body it has read, to keep it. Rejects with what the body's stream threw. */
  read(answer: Answer): Promise<Answer>;
  /** Gets the answer that was read, or the one in its place. Resolves with the answer to send. */
  leave(answer: Answer, end: GuardedEnd): Promise<Answer>;
  /**
   * The handler answered, or raised (undefined), after the request's deadline. Never throws. Resolves once the answer is stored;
   * undefined where nothing is to be stored.
   *
   * @param isUndone Whether what it wrote in a transaction of the request is rolled back.
   */
  endedLate(answer: Answer | undefined, isUndone?: boolean): Promise<void> | undefined;
}

/** How a guarded handler ended: what raised may have done what it does, where the outcome is unknown. */
export type GuardedEnd = "answered" | "failed" | "outcome unknown";

/** The request as an application sees it: `request`, a not-found handler, and `Dep.ofRequest`. */
export interface RequestRecord {
  /** The request id, which the response and every log line have. */
  readonly id: string;
  /** The method, as sent. */
  readonly method: string;
  /** The request target as sent. */
  readonly target: string;
  /** The target's path as sent, percent-encoded: for a link or a redirect to it. To compare paths, use `path` or `segments`. */
  readonly rawPath: string;
  /**
   * The path with its percent-encoding removed, as the router compares it: `/%61dmin` is `/admin`. A `/` or `%` in a segment stays `%2F`
   * or `%25`, and a segment with a broken escape, or one that is not UTF-8, stays as sent. A segment may be `.` or `..`.
   */
  readonly path: string;
  /** The segments of the path, decoded: `["files", "a/b"]` of `/files/a%2Fb`. Empty for `/`, and for a target that is not a path. */
  readonly segments: readonly string[];
  /** `Host`, or the authority of an absolute target, in lower case. */
  readonly host: string | undefined;
  /** The address that opened the connection: a proxy's, if there is one. */
  readonly peer: string;
  /** The peer, or the address a trusted proxy forwarded for. */
  readonly client: string;
  /**
   * Whether the client used HTTPS: what the connection says, or a trusted proxy. False behind a proxy that does TLS and is not in
   * `trustedProxies`.
   */
  readonly secure: boolean;
  /** Whether cookies of the answer are `Secure`: always, except over plain HTTP at `localhost`, `127.0.0.1` and `[::1]`. */
  readonly secureCookies: boolean;
  /** One instant for the whole request. */
  readonly now: Date;
  /** The first value. */
  query(name: string): string | undefined;
  /** Every value of a query parameter, in the order sent. */
  queries(name: string): readonly string[];
  /** Case does not matter; the lines of a repeated header are joined with `, `. */
  header(name: string): string | undefined;
  /** In the order sent, names in lower case. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  /** The value of a cookie; undefined if it was not sent. */
  cookie(name: string): string | undefined;
}

/** What an input reads, for the API document. */
export type Need =
  | { readonly in: "query" | "header" | "cookie"; readonly name: string; readonly required?: boolean }
  | { readonly custom: string };

/** The request as an application sees it; nothing is copied in advance. */
export function recordOf(request: InputRequest): RequestRecord {
  return new LazyRequestRecord(request);
}

class LazyRequestRecord implements RequestRecord {
  readonly #request: InputRequest;
  #path: string | undefined = undefined;
  #segments: readonly string[] | undefined = undefined;

  constructor(request: InputRequest) {
    this.#request = request;
  }

  get id(): string {
    return this.#request.id;
  }
  get method(): string {
    return this.#request.method;
  }
  get target(): string {
    return this.#request.target;
  }
  get rawPath(): string {
    return this.#request.rawPath;
  }
  get path(): string {
    return (this.#path ??= decodedPath(this.#request.rawPath));
  }
  get segments(): readonly string[] {
    return (this.#segments ??= decodedSegments(this.#request.rawPath));
  }
  get host(): string | undefined {
    return this.#request.host;
  }
  get peer(): string {
    return this.#request.peer;
  }
  get client(): string {
    return this.#request.client;
  }
  get secure(): boolean {
    return this.#request.secure;
  }
  get secureCookies(): boolean {
    return this.#request.secureCookies;
  }
  get now(): Date {
    return this.#request.givenNow;
  }
  get headers(): Iterable<readonly [name: string, value: string]> {
    return this.#request.headers();
  }

  query(name: string): string | undefined {
    return firstValue(this.#request.search, name) ?? undefined;
  }

  queries(name: string): readonly string[] {
    return everyValue(this.#request.search, name).filter((text) => text !== null);
  }

  header(name: string): string | undefined {
    return fieldValue(this.#request.lines(name.toLowerCase()));
  }

  cookie(name: string): string | undefined {
    return this.#request.cookie(name);
  }
}

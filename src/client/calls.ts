export type { Succeeded } from "../answers/returns-type.ts";
export type { Refused } from "./refused.ts";
import type { Succeeded } from "../answers/returns-type.ts";
import type { FrameworkCode, Problem } from "../refusals.ts";
import type { ClientRoute, TypesOf } from "../routing/route.ts";
import type { Refused } from "./refused.ts";
import type { OpenedCall, WebSocketLike } from "./socket-types.ts";

/**
 * The options of a typed client. `fetch` is the platform's unless set: use an app's `app.fetch` in a test, or a function
 * that adds a changing token. `headers` are sent with every call; the call's own headers override them.
 */
export interface ClientOptions {
  /** The URL in front of the routes' paths: `https://orders.example/api`; in a browser `""` for the page's own origin. */
  readonly baseUrl: string;
  /** Sends each request; the platform's `fetch` by default. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Headers of every call; those of a call override them. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /**
   * Reads the refusal of a response that is not 2xx, where the app has a `refusalFormat` of its own. Without it, the framework's
   * own format and problem details (RFC 9457) are read. Undefined, or an exception, makes the call `unreachable`.
   */
  readonly readRefusal?:
    | ((response: Response) => RefusalRead | undefined | Promise<RefusalRead | undefined>)
    | undefined;
  /**
   * The most bytes of a response that is read whole, after decompression: JSON, a text, a refusal. 16 MiB by default. A longer
   * one makes the call `unreachable`, and ends its connection.
   */
  readonly maxBody?: number | undefined;
  /** The longest line of JSON lines, in UTF-16 code units: 1,048,576 by default. A longer one throws a RangeError in the loop. */
  readonly maxLine?: number | undefined;
  /** The longest event of a stream, as it is sent, in UTF-16 code units: 1,048,576 by default. A longer one throws a RangeError in the loop. */
  readonly maxEvent?: number | undefined;
  /**
   * The least time between two connections of an event stream, in milliseconds, from one request to the next: 1,000 by default. A
   * server that sends `retry: 0` and ends each connection gets no more requests than that.
   */
  readonly minReconnectMs?: number | undefined;
  /**
   * Makes the WebSocket of `SocketCall.open`: the platform's own by default. Node 20 has none: `(url, protocols, headers) =>
   * new WebSocket(url, protocols, { headers })`, of the package `ws`, which can also send headers.
   */
  readonly webSocket?:
    | ((url: string, protocols: string[], headers: { readonly [name: string]: string }) => WebSocketLike)
    | undefined;
  /**
   * The most of a WebSocket's messages that wait, in bytes, or UTF-16 code units of text: 1,048,576 by default. It is the limit of one
   * message too, and each counts 32 more. If more were received than the loop has read, the socket is closed, and the loop throws a RangeError after the
   * messages before. If more were not sent yet, `send` throws a RangeError.
   */
  readonly maxSocketBuffer?: number | undefined;
  /** How long a WebSocket may take to open, in milliseconds: 30,000 by default. */
  readonly openTimeoutMs?: number | undefined;
}

/** A refusal as {@link ClientOptions.readRefusal} reads it from a response. */
export interface RefusalRead {
  /** The name of its code. */
  readonly error: string;
  /** A sentence for the user. */
  readonly message: string;
  /** Empty unless given. */
  readonly problems?: readonly Problem[] | undefined;
  /** How many problems are not listed. */
  readonly more?: number | undefined;
}

/** The codes of any call: the framework's own, and `unreachable` if no response of the application arrived. */
export type ClientCode = FrameworkCode | "outcome_unknown" | "cross_origin" | "unsupported_media_type" | "unreachable";

/** A union of refusals, one for each code: narrow it by `switch (outcome.error)`. */
export type RefusedAs<Names> = Names extends "invalid" ? Refused<"invalid", readonly Problem[]> : Refused<Names>;

// Of no parameter, so the compiler makes it once and not for each call.
type RefusedByAny = RefusedAs<ClientCode>;

/** The result of a call: the answer or a refusal. */
export type Outcome<Sent, Names> = Sent | RefusedAs<Names> | RefusedByAny;

/** The options of a call, in addition to the inputs of its route. */
export interface CallOptions {
  /** Ends the call, which is then `unreachable`, or the stream that it opened. */
  readonly signal?: AbortSignal | undefined;
}

/** A route's call. */
export interface RouteCall<Wire, Sent, Names> {
  (...given: CallArguments<Wire>): Promise<Outcome<Sent, Names>>;
  /**
   * The same call, whose value is the `Response` itself, unread, whatever its type: for a file that a user chose, whose type the
   * routes do not know. It may be of any length.
   *
   * @example
   * ```ts
   * const file = await api["GET /files/{file_id}"].response({ path: { file_id: 7 } });
   * if (file.ok) {
   *   link.href = URL.createObjectURL(await file.value.blob());
   *   // Without it, the script of an HTML file would run as the page's own.
   *   link.download = "file";
   * }
   * ```
   */
  readonly response: (...given: CallArguments<Wire>) => Promise<Outcome<Succeeded<number, Response>, Names>>;
}

type CallArguments<Wire> = {} extends Wire ? [given?: Wire & CallOptions] : [given: Wire & CallOptions];

// A route whose pattern is not a literal type has no member: it would match every name.
type Name<R extends ClientRoute> = {} extends Record<R["pattern"], 1> ? never : `${R["method"]} ${R["pattern"]}`;

/** The types of one route. */
interface AnyTypes {
  readonly wire: unknown;
  readonly sent: unknown;
  readonly names: string;
}
// Whether it is a WebSocket's route is asked without an `infer`, which costs the compiler 7 instantiations more a call.
type CallOf<T extends AnyTypes> = T["sent"] extends { readonly wire: unknown }
  ? OpenedCall<"Call its member `open`.", T["wire"] & CallOptions, T["sent"]["wire"]>
  : RouteCall<T["wire"], T["sent"], T["names"]>;

/** The routes of a client that was given no types. Its parameter is a sentence of the compiler's error for a call. */
export interface UntypedRoute<_Do = "Write Client.of<typeof routes>(options)."> extends ClientRoute {}

/** A function for each route, by its method and pattern: `api["GET /orders/{order_id}"]`; of a WebSocket's route, its `open`. */
// One function generic in its key cost the compiler 25 times as much.
export type Client<Routes extends readonly ClientRoute[]> = {
  readonly [R in Routes[number] as Name<R>]: CallOf<TypesOf<R>>;
};

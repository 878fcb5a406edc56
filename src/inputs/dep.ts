import { noted } from "./copies.ts";
import type { AnyCodec, Codec, EncodedAs, ListBounds, TextOptions } from "../codecs/codec.ts";
import {
  isListOf,
  isObject,
  needs,
  needsFunction,
  needsObject,
  needsOptions,
  needsText,
  needsTexts,
} from "../arguments.ts";
import { Problem, invalidRefusal, isCode } from "../refusals.ts";
import type { Code, FrameworkCode, Refusal } from "../refusals.ts";
import type { AnyStandard } from "../schema/standard.ts";
import { recordOf } from "./request.ts";
import type { BodyInUse, BodyRequest, InputRequest, Need, RequestRecord } from "./request.ts";
import type { FieldNames } from "./text.ts";
import type { Style } from "./wire.ts";

declare const types: unique symbol;

/** A path parameter of any type. */
export interface AnyParam<out Name extends string = string> {
  /** Exists only in types. */
  readonly [types]?: { readonly value: unknown; readonly sent: unknown };
  /** Tells it from a rest. */
  readonly kind: "param";
  /** Its name in the path, in problems and in the API document. */
  readonly name: Name;
  /** Reads and writes the segment. */
  readonly codec: AnyCodec;
  /** Whether a segment that does not parse goes to the next route; otherwise it is a 400. */
  readonly declines: boolean;
  /** What the API document says of it. */
  readonly about?: TextOptions;
  /** Internal to the framework: what reads it. */
  readonly reader: DepNode;
}

/** A segment that a codec reads. Make it once and use it in every path and route. */
export interface Param<out Name extends string, in out A, out Sent = unknown> extends AnyParam<Name> {
  /** Reads and writes the segment. */
  readonly codec: Codec<A, Sent>;
  readonly [types]?: { readonly value: A; readonly sent: Sent };
}

/** All remaining segments. */
export interface Rest<out Name extends string = string> {
  readonly [types]?: { readonly value: readonly string[]; readonly sent: readonly string[] };
  /** Tells it from a parameter. */
  readonly kind: "rest";
  /** Its name in the path. */
  readonly name: Name;
  /** Whether its segments may be empty, as the last one of a path that ends with a slash. */
  readonly takesEmpty?: true;
  /** Internal to the framework: what reads it. */
  readonly reader: DepNode;
}

/** A value, or a promise of it. */
export type Awaitable<A> = A | Promise<A>;

/**
 * An input of a route. The API document knows what it reads without running it. It runs at most once per request. Its value,
 * or its failure, is shared by everything that uses it. `Refuses` names the codes that it may answer with. `Wire` is what a
 * client sends for it (`{ path, query, headers, form, json, body }`, only the parts that it reads).
 */
export interface Dep<out A, out Refuses extends string = never, out Wire = {}> {
  /** Internal to the framework. */
  readonly node: DepNode;
  /** Exists only in types. */
  // Read by name: to infer three parameters costs the compiler four times as much. The wire is the parameter of a
  // method, for `WiresOf`: the parameter of a function would make `Wire` contravariant. `undefined` is written out as in `EventKind`.
  readonly [types]?: { readonly value: A; readonly refuses: Refuses; sends(wire: Wire): void } | undefined;
}

/** An input of any type. */
export type AnyDep = Dep<unknown, string, unknown>;

/** Inputs by the names that the handler uses. */
export interface Inputs {
  readonly [name: string]: AnyDep;
}
/**
 * What a handler gets where its route has no inputs. Its name and its parameter are the sentence of the compiler's error for
 * `(req) => req.headers`, which a handler of another framework does: a handler gets only the inputs that its route declares.
 */
export interface OnlyDeclaredInputs<_Do = "List in `inputs` what it reads: Header, Query, param, json, request."> {}
/** What a handler gets: the value of each input. */
// `& {}` keeps the name of the alias, and with it every input's whole type, out of the compiler's errors.
export type Values<I extends Inputs> = [keyof I] extends [never]
  ? OnlyDeclaredInputs
  : { readonly [K in keyof I]: NonNullable<I[K][typeof types]>["value"] } & {};
/** Everything that a client sends for several inputs; `unknown` if they read nothing of a request. */
// The compiler infers the parameter of a union of functions as the intersection of their parameters.
export type WiresOf<I extends Inputs> = NonNullable<I[keyof I][typeof types]>["sends"] extends (
  wire: infer Wire,
) => void
  ? Wire
  : never;
export type WireOf<I extends Inputs> = {} & WiresOf<I>;
/** The codes that several inputs may answer with. */
export type RefusesOf<I extends Inputs> = NonNullable<I[keyof I][typeof types]>["refuses"];
/** The value of an input. */
export type DepValue<D extends AnyDep> = NonNullable<D[typeof types]>["value"];
/** The values of a path's parameters by name. */
export type ArgumentsOf<P extends AnyParam | Rest> = { [K in P as K["name"]]: NonNullable<K[typeof types]>["value"] };
/** What a client sends for a path's parameters. One alias for a path and for an input that reads it: equal types merge. */
export type PathWire<P extends AnyParam | Rest> = {
  /** The argument of each parameter, by its name. */
  path: { [K in P as K["name"]]: EncodedAs<NonNullable<K[typeof types]>["sent"]> };
};
export type Names<Codes extends readonly Code[]> = Codes[number]["name"];

/**
 * What a handler may return that refuses with the codes `N`, where the codes `C` are declared: an answer `A` or a refusal. With a
 * code that is not declared it is the sentence of the error, and nothing may be returned.
 */
// Where no code is returned, no refusal is in the type, so that the compiler's errors are a line shorter. An `Exclude` written out
// costs the compiler 6 instantiations less a route.
export type Answering<A, N extends string, C extends string> = [N] extends [never]
  ? Awaitable<NoInfer<A>>
  : (N extends C | FrameworkCode ? never : N) extends never
    ? Awaitable<NoInfer<A> | Refusal<N>>
    : `The code ${Exclude<N, C | FrameworkCode>} is not declared: list it in \`refuses\`.`;

/** As {@link Answering}, for an input: its value `B` is inferred, and may be a problem. */
export type Joining<B, N extends string, C extends string> =
  Exclude<N, C | FrameworkCode> extends never
    ? Awaitable<B | Refusal<N> | Problem>
    : `The code ${Exclude<N, C | FrameworkCode>} is not declared: list it in \`refuses\`.`;

/** How a route reads its body, and what reads it. A route has one such way. */
export type BodyNeed = BodyForm & BodyMachine;

/** What an input of a body brings to its route. */
export interface BodyMachine {
  /** Reads the body of one request. */
  readonly Reading: new (request: BodyRequest) => BodyInUse;
  /** Why a route cannot read its body by several inputs. */
  readonly several: (bodies: readonly BodyForm["as"][]) => string;
}

/** The form of a body. */
export type BodyForm =
  | { readonly as: "json"; readonly shape: AnyStandard; readonly examples: readonly unknown[] }
  | { readonly as: "bytes"; readonly contentTypes?: readonly string[] }
  | { readonly as: "form" }
  | { readonly as: "stream"; readonly max: number; readonly contentTypes?: readonly string[] }
  | { readonly as: "lines"; readonly shape: AnyStandard; readonly contentTypes: readonly string[] }
  | { readonly as: "multipart"; readonly max: number; readonly maxHead: number };

/** The text that an input reads, for the checks and the API document. */
export interface TextNeed {
  readonly in: "path" | "query" | "header" | "cookie" | "form";
  readonly name: string;
  readonly required: boolean;
  readonly style: Style;
  readonly codec: AnyCodec;
  /** The path parameter itself: another one of the same name is different. */
  readonly parameter?: AnyParam | Rest;
  readonly default?: { readonly value: never };
  /** What the API document says of it, and the bounds of a list. */
  readonly about?: TextOptions & ListBounds;
  /** Only its presence counts. */
  readonly checked?: true;
}

/** The file that an input reads. */
export interface FileNeed {
  readonly in: "file";
  readonly name: string;
  readonly required: boolean;
  readonly repeated: boolean;
  /** What the API document says of it, and the bounds of a list. */
  readonly about?: FileListOptions;
}

/** What the API document says of a file. */
export type FileOptions = Pick<TextOptions, "doc" | "deprecated">;

/** The options of a list of files. */
export type FileListOptions = FileOptions & ListBounds;

/** A `WWW-Authenticate` of an input's own, and the name of the code that it is sent with. */
export interface Challenge {
  readonly code: string;
  readonly value: string;
}

/** What the check of an input reads of its route. */
export interface CheckedRoute {
  readonly method: string;
  readonly pattern: string;
  /** Those of its path. */
  readonly segments: readonly (string | AnyParam | Rest)[];
  /** The kind of its answer. */
  readonly returns: string;
  /** How its body is read. */
  readonly bodies: readonly string[];
  /** The routes of its app. Their type is above inputs. */
  readonly routes: readonly object[];
  /** Every node of its inputs: one that guards may answer in place of the handler. */
  readonly nodes: readonly { readonly guards?: true }[];
}

/** The inside of an input. */
export interface DepNode {
  /** The inputs that it is made from, in the order they are read. */
  readonly from: readonly AnyDep[];
  readonly need?: TextNeed | FileNeed;
  /** What an application's own reader declares that it reads, and the fields that parts of a form are described by. */
  readonly needs?: readonly (TextNeed | FileNeed | Need)[];
  readonly codes?: readonly Code[];
  /** The challenges that its refusals send in place of their code's, for the API document. */
  readonly challenges?: readonly Challenge[];
  readonly body?: BodyNeed;
  /** For a credential: the scheme's name in the API document, and what the document says of it. */
  readonly credential?: { readonly scheme: string } & CredentialOptions;
  /** What it reads is not known in advance, so the API document does not list it. */
  readonly opaque?: boolean;
  /** It chooses further inputs, the body's among them, only when a request is read. What an app checks of them is in `chooses`. */
  readonly binds?: boolean;
  readonly chooses?: readonly AnyDep[];
  /** It may give the answer an `ETag` or a `Last-Modified`: one to GET may become a 304, or a refusal with this code. */
  readonly validates?: Code;
  readonly guards?: true;
  /** Its value is held until the request has ended, so it is acquired once the body has arrived. */
  readonly acquires?: true;
  /** Read at every use. */
  readonly uncached?: boolean;
  readonly resource?: string;
  /** Problems of its declaration; each message follows the route's name. */
  readonly check?: (refusalFormat: object | undefined, route: CheckedRoute) => readonly string[];
  /** The value is known when the app is made; nothing is read. */
  readonly constant?: (context: RouteContext) => unknown;
  /** Called once for each route. `from` has the slots of the node's own inputs. */
  readonly compile?: (context: RouteContext, from: readonly number[]) => ReadInput;
  /** A check in the first stage for an input of the second: a body's content type. */
  readonly before?: (context: RouteContext) => InputCheck;
}

/** The route and the app that an input is compiled for. */
export interface RouteContext {
  /** `GET /orders/{order_id}`, for messages. */
  readonly route: string;
  /** The index of a parameter's captured segment; `"another"` where a different parameter has its name. */
  captured(parameter: AnyParam | Rest): number | "another" | undefined;
  /** The fields that the route reads from its query and its form. */
  readonly query: FieldNames;
  readonly form: FieldNames;
  /** How an empty query field is read if its type has no empty text: undefined for a problem. */
  readonly emptyQuery: "absent" | undefined;
  /** One object for each app. */
  readonly app: object;
  resource(name: string): unknown;
  /** Whether the app lacks a resource. `App.make` names each that is missing. */
  lacks(name: string): boolean;
  /** The app's own format of refusals, for the API document. Its type is of answers, which are above inputs. */
  readonly refusalFormat: object | undefined;
  /** The content codings of bodies that the app reads. */
  readonly encodings: readonly string[];
  /** The app's deadline, for the API document. */
  readonly deadline: { readonly ms: number } | undefined;
}

/** The inputs of one request while they are being read. */
export interface Reading {
  readonly values: unknown[];
}

/** Returns a value, a `Refusal`, a `Problem`, or a promise of one. `values` has what was read before. */
export type ReadInput = (request: InputRequest, values: readonly unknown[], reading: Reading) => unknown;
export type InputCheck = (request: InputRequest) => unknown;

/** Combines inputs into one with a record of their values. */
export function all<const I extends Inputs>(inputs: I): Dep<Values<I>, RefusesOf<I>, WireOf<I>> {
  needsObject("Dep.all: inputs", inputs);
  return noted({ node: { from: Object.values(inputs), compile: (_route, from) => record(Object.keys(inputs), from) } });
}

/** The record of several inputs' values. */
export function record(
  names: readonly string[],
  from: readonly number[],
): (request: InputRequest, values: readonly unknown[]) => Record<string, unknown> {
  return (_request, values) => {
    const answer: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) answer[names[i] as string] = values[from[i] as number];
    return answer;
  };
}

/** Always this value. */
export function constant<A>(value: A): Dep<A> {
  return noted({ node: { from: [], constant: () => value } });
}

type Mapped<B> =
  Extract<B, Refusal | Problem> extends never
    ? B
    : "`Dep.map` cannot refuse: use `Dep.join`, which declares its codes.";

/** A value computed from another one, without validation. It cannot refuse: use `Dep.join`. */
export function map<A, B, R extends string, W>(dep: Dep<A, R, W>, f: (value: A) => Mapped<B>): Dep<B, R, W> {
  needsFunction("Dep.map: its block", f);
  return noted({ node: { from: [dep], compile: (_route, from) => reading(from, (value) => f(value as A)) } });
}

/**
 * A validated value. The block returns a value, a refusal from a code in `refuses`, or a `Dep.problem` (or `Dep.problems`).
 * Problems are sent together with all others of the request. A refusal ends the request at once.
 *
 * @example
 * ```ts
 * const range = Dep.join({ from: Query.required("from", Codec.int), to: Query.required("to", Codec.int) }, ({ from, to }) =>
 *   from <= to ? { from, to } : Dep.problem({ at: "query.to", code: "too_small", message: "This is before the start." }));
 * ```
 */
export function join<const I extends Inputs, B = never, C extends string = never, N extends string = never>(
  inputs: I,
  block: (values: Values<I>) => Joining<B, N, C>,
  options: { readonly refuses?: readonly Code<C>[] } = {},
): Dep<Exclude<B, Problem>, NoInfer<C> | RefusesOf<I>, WireOf<I>> {
  needsObject("Dep.join: inputs", inputs);
  needsFunction("Dep.join: its block", block);
  needsOptions("Dep.join", options, "refuses");
  return noted({
    node: {
      from: Object.values(inputs),
      ...(options.refuses === undefined ? {} : { codes: options.refuses }),
      compile: (_route, from) => {
        const values = record(Object.keys(inputs), from);
        return (request, read) => block(values(request, read) as Values<I>);
      },
    },
  });
}

/** A problem of an input. Its parameter is a sentence of the compiler's error where a handler returns it. */
export interface InputProblem<_Do = "A handler returns a list: Dep.problems([problem])."> extends Problem {}

/** A validation error for a `Dep.join` to return. The message is sent to the client unchanged. */
export function problem(problem: {
  readonly at: string;
  readonly code: string;
  readonly message: string;
}): InputProblem {
  needsObject("Dep.problem: it", problem);
  return new Problem(problem.at, problem.code, problem.message);
}

/** Several validation errors, at least one. */
export function problems(problems: readonly Problem[]): Refusal<"invalid"> {
  needs(Array.isArray(problems), "Dep.problems: it", problems, "a list");
  if (problems.length === 0) throw new Error("Dep.problems: the list is empty, give at least one problem");
  return invalidRefusal(problems);
}

/** Always refuses, for a route that is switched off. */
export function refuse<const Name extends string>(refusal: Refusal<Name>): Dep<never, Name> {
  needs(isObject(refusal) && isCode(refusal.code), "Dep.refuse: it", refusal, "made by refuse");
  return noted({ node: { from: [], codes: [refusal.code], compile: () => () => refusal } });
}

/** What the API document says of a credential. */
export interface CredentialOptions {
  /** Describes the scheme. */
  readonly doc?: string;
  /** Its name in the API document: the scheme unless set. Two kinds of token of one scheme have two names. */
  readonly name?: string;
  /** Whether a request may come without it. Unless set, it may where the route has no 401, and what it reads may be missing. */
  readonly optional?: boolean;
  /** For a bearer token: how it is made, as `JWT`. */
  readonly bearerFormat?: string;
  /** The URL of the discovery document, where the credential comes by OpenID Connect. */
  readonly openIdConnect?: string;
  /** The flows of OAuth 2, where the credential comes by it. */
  readonly oauth2?: OAuthFlows;
  /** The scopes that this input needs: of a flow of `oauth2`, where that is set, and of any name otherwise. */
  readonly scopes?: readonly string[];
}

/** One flow of OAuth 2 (RFC 6749): its URLs, and each scope with what it allows. */
export interface OAuthFlow {
  /** Where a person signs in. */
  readonly authorizationUrl?: string;
  /** Where a client gets its token. */
  readonly tokenUrl?: string;
  /** Where a client gets a newer token. */
  readonly refreshUrl?: string;
  /** What each scope allows, by its name. */
  readonly scopes: { readonly [scope: string]: string };
}

/** The flows of OAuth 2, by their names in OpenAPI. */
export interface OAuthFlows {
  /** A person signs in by a browser (RFC 6749 §4.1). */
  readonly authorizationCode?: OAuthFlow;
  /** A program signs in by itself (RFC 6749 §4.4). */
  readonly clientCredentials?: OAuthFlow;
  /** A program sends the login of a person (RFC 6749 §4.3). */
  readonly password?: OAuthFlow;
  /** The token comes in the redirect (RFC 6749 §4.2). */
  readonly implicit?: OAuthFlow;
}

/**
 * Marks an input as a credential, for the API document, which lists the scheme in place of what the input reads. An input
 * that reads `authorization` is an HTTP scheme of that name (`"bearer"`). Any other is an API key. The options may say instead
 * that it comes by OAuth 2 or OpenID Connect.
 *
 * @example
 * ```ts
 * // Anyone may read an article; a token that is wrong is a 401.
 * const reader = Dep.credential("bearer", Dep.map(token, userOf), { optional: true });
 * ```
 */
export function credential<A, R extends string, W>(
  scheme: string,
  dep: Dep<A, R, W>,
  options: CredentialOptions = {},
): Dep<A, R, W> {
  needsText("Dep.credential: its scheme", scheme);
  needsOptions("Dep.credential", options, "doc name optional bearerFormat openIdConnect oauth2 scopes");
  if (options.name !== undefined) needsText("Dep.credential: name", options.name);
  if (options.scopes !== undefined) needsTexts("Dep.credential: scopes", options.scopes);
  const described = { scheme, ...options };
  return noted({
    node: { from: [dep], credential: described, compile: (_route, from) => reading(from, (value) => value) },
  });
}

/** An input that runs at every use and not once per request. The inputs that it uses are still shared. */
export function uncached<A, R extends string, W>(dep: Dep<A, R, W>): Dep<A, R, W> {
  needs(isObject(dep) && isObject(dep.node), "Dep.uncached: it", dep, "an input");
  const node: DepNode = { ...dep.node, uncached: true };
  return { node };
}

function reading(from: readonly number[], f: (value: unknown) => unknown): ReadInput {
  const [slot = 0] = from;
  return (_request, values) => f(values[slot]);
}

/** A resource of the application, made once where the program starts: a pool, a client, a hub. */
export interface Resource<in out A> extends Dep<A> {
  /** Its name in errors. */
  readonly name: string;
  /** Exists only in types. */
  readonly holds?: (value: A) => A;
}

/** A resource with its value, for `App.make`. */
export interface Supplied {
  /** The resource's name. */
  readonly name: string;
  /** The resource's value. */
  readonly value: unknown;
}

/** Declares a resource. `App.make` refuses a route that reads a resource without a value. */
export function ofResource<A>(name: string): Resource<A> {
  needsText("Dep.ofResource: its name", name);
  return noted({ name, node: { from: [], resource: name, constant: (context) => context.resource(name) } });
}

/** Gives a resource its value: `App.make(routes, { resources: [Dep.resource(store, new Store())] })`. */
export function resource<A>(resource: Resource<A>, value: A): Supplied {
  needsObject("Dep.resource: its resource", resource);
  return { name: resource.name, value };
}

/**
 * Reads what no built-in input reads. It is opaque to the API document unless `needs` lists what it reads. `refuses` lists
 * the codes that it may answer with.
 */
export function ofRequest<A = never, C extends string = never, N extends string = never>(
  read: (request: RequestRecord) => Joining<A, N, C>,
  options: { readonly needs?: readonly Need[]; readonly refuses?: readonly Code<C>[] } = {},
): Dep<Exclude<A, Problem>, NoInfer<C>> {
  needsFunction("Dep.ofRequest: its block", read);
  needsOptions("Dep.ofRequest", options, "needs refuses");
  const { needs: reads = [] } = options;
  needs(isListOf(reads, isObject), "Dep.ofRequest: needs", reads, "a list of what it reads");
  return noted({
    node: {
      from: [],
      ...(options.needs === undefined ? { opaque: true } : { needs: options.needs }),
      ...(options.refuses === undefined ? {} : { codes: options.refuses }),
      compile: () => (request) => read(recordOf(request)),
    },
  });
}

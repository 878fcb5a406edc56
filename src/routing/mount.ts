import { isResponse, pass } from "../answers/pass.ts";
import { ResponseBody } from "../answers/response-body.ts";
import { response } from "../answers/returns.ts";
import { isTexts, kindOf, needs, needsFunction, needsObject, needsOptions, needsPath } from "../arguments.ts";
import { isThenable, isSettledSoon } from "../async.ts";
import { connectionFields } from "../http/connection-fields.ts";
import { isToken, itemsOf } from "../http/fields.ts";
import { BodyReader, bodyRefusal, bodyTooLarge, wrongMax } from "../inputs/body-source.ts";
import type { BodyFailure } from "../inputs/body-source.ts";
import type { AnyDep, AnyParam, Awaitable, Dep, Inputs, RefusesOf, Rest, Values } from "../inputs/dep.ts";
import type { InputRequest } from "../inputs/request.ts";
import { InvalidAnswerError, isRefusal, none, notFound, notImplemented, refuse } from "../refusals.ts";
import type { Code, FrameworkCode, Refusal } from "../refusals.ts";
import { empty } from "./meta.ts";
import type { Meta } from "./meta.ts";
import { anyMethod, mounted, mountedRequest as own } from "./mounted.ts";
import { mountedOperations } from "./mount-doc.ts";
import type { MountDoc } from "./mount-doc.ts";
import { mountRequest } from "./mounted-request.ts";
import type { MountRequest } from "./mounted-request.ts";
import type { Path } from "./path.ts";
import type { HasAllRead, Route } from "./route.ts";
import { bodyNeed } from "../inputs/body-reading.ts";

/** The options of `Route.mount`. */
export interface MountOptions<I extends Inputs, C extends string, Checked = unknown> {
  /** The methods that it answers, in upper case; every method unless set. `GET` is also `HEAD`. */
  readonly methods?: readonly string[];
  /** Whether the path of the `Request` begins below the mount: `/users` of `/admin/users`. False unless set. */
  readonly stripPrefix?: boolean;
  /** The most bytes of a request's body: the app's `maxBody` unless set. A longer one is a 413. The body is not held whole. */
  readonly maxBody?: number;
  /** What is read before the handler runs, such as a credential: what does not fit is refused. Its values are the second argument. */
  readonly inputs?: I & Checked;
  /** The codes that the handler may refuse with, besides the framework's own. */
  readonly refuses?: readonly Code<C>[];
  /** Metadata, such as `Meta.empty.add(Meta.access, "debug")`; none by default. */
  readonly meta?: Meta;
  /**
   * What the API document says of it: operations by method, `"GET"`, or by method and the path below the mount, `"POST /users/{id}"`.
   * Nothing unless set.
   */
  readonly doc?: MountDoc;
}

/** The handler of a mount. */
export type MountHandler<I extends Inputs, C extends string> = (
  request: Request,
  inputs: Values<I>,
) => Awaitable<Response | Refusal<C | FrameworkCode>>;

/**
 * Mounts a handler of other code, `(request: Request) => Response`, at a path and everything below it: an authentication library, another
 * framework's app, a proxy. Where a route of the app has the same path, the route answers, under every method: a mount has what is left.
 *
 * The handler gets a standard `Request`. It has the URL as the client sees it, all header lines but those of the connection, and the body
 * as a stream. Its signal aborts when the client leaves or the deadline passes. The `Response` goes out as `Answer.pass` sends it, with
 * each `Set-Cookie`. The body can be read until the handler has returned. The id, the cross-origin check, the limits and the
 * `inputs` come before it. The log line, middleware, CORS and compression come after it, as for any route. The API document has of a
 * mount what `doc` says.
 *
 * A path with `.` or `..` as a segment is a 404, as `URL` would resolve it to a path that the app did not match. A request for a WebSocket
 * is a 501: declare a route with `Returns.websocket`, or attach the other server to the listener's `upgrade`.
 *
 * @param path Where it begins. It may have parameters, which `inputs` read; it has no rest.
 * @throws TypeError for a handler that is no function, a path with a rest, or an option that is not one of a mount's.
 * @example
 * ```ts
 * const auth = Route.mount(Path.of("api", "auth"), (request) => betterAuth.handler(request));
 * const app = App.make([...routes, auth]);
 * ```
 */
export function mount<
  const I extends Inputs = {},
  P extends string = string,
  Params extends AnyParam | Rest = never,
  C extends string = never,
>(
  path: Path<Params, P>,
  handler: MountHandler<I, NoInfer<C>>,
  options: MountOptions<I, C, HasAllRead<I, Params>> = {},
): Route<never, `${P}/{rest*}`, never, never, NoInfer<C> | RefusesOf<I>> {
  checkMount(path, handler, options);
  const { methods, stripPrefix = false, maxBody, inputs = {}, refuses = none, meta = empty, doc } = options;
  const mounting = mountingOf(stripPrefix, maxBody);
  const pattern = `${path.pattern === "/" ? "" : path.pattern}/{rest*}` as `${P}/{rest*}`;
  return {
    // No client calls it by its method and its path: it has neither in its type.
    method: anyMethod as never,
    ...(methods === undefined ? {} : { methods: [...new Set(methods)] }),
    ...(doc === undefined ? {} : { doc: mountedOperations(path.pattern, parameterNames(path), methods, doc) }),
    pattern,
    path: { pattern, segments: [...path.segments, mounted] },
    inputs: { ...inputs, [own]: mounting },
    returns: response,
    refuses,
    tags: [],
    meta,
    handler: ({ [own]: mounting, ...values }: { [own]: Mounting }) =>
      mounting.answer((request) => handler(request, values as Values<I>)),
  };
}

function parameterNames({ segments }: Path<unknown>): readonly string[] {
  return segments.flatMap((segment) => (typeof segment === "string" ? [] : [segment.name]));
}

function checkMount(path: unknown, handler: unknown, options: MountOptions<Inputs, string>): void {
  needsPath("Route.mount: path", path);
  needsFunction("Route.mount: its handler", handler);
  const { pattern, segments } = path as Path;
  if (segments.some((segment) => typeof segment === "object" && segment.kind === "rest"))
    throw new TypeError(`Route.mount: ${pattern} has a rest, and a mount has everything below its path without one`);
  needsOptions("Route.mount", options, "methods stripPrefix maxBody inputs refuses meta doc");
  const { methods, stripPrefix, maxBody, inputs } = options;
  needs(
    stripPrefix === undefined || typeof stripPrefix === "boolean",
    "Route.mount: stripPrefix",
    stripPrefix,
    "true or false",
  );
  needs(
    methods === undefined || (isTexts(methods) && methods.length > 0),
    "Route.mount: methods",
    methods,
    "a list of methods",
  );
  for (const method of methods ?? []) checkMethod(method);
  if (inputs !== undefined) needsObject("Route.mount: inputs", inputs);
  for (const problem of maxBody === undefined ? [] : wrongMax(maxBody)) {
    throw new RangeError(`Route.mount: ${pattern} ${problem}`);
  }
}

function checkMethod(method: string): void {
  if (method === "HEAD") throw new TypeError("Route.mount: a HEAD goes where the GET goes: list GET");
  const isMethod = isToken(method) && method === method.toUpperCase() && method !== anyMethod;
  if (isMethod && !["CONNECT", "TRACE", "TRACK"].includes(method)) return;
  throw new TypeError(`Route.mount: ${JSON.stringify(method)} is no method that a Request can have, in upper case`);
}

/** The input that makes the `Request`. Its body is for the handler as it was sent, so it reads `Content-Encoding`. */
function mountingOf(stripPrefix: boolean, maxBody: number | undefined): AnyDep {
  const input: Dep<Mounting> = {
    node: {
      from: [],
      opaque: true,
      needs: [{ in: "header", name: "content-encoding" }],
      body: bodyNeed({ as: "stream", max: maxBody ?? Number.MAX_SAFE_INTEGER }),
      compile: () => (request) => new Mounting(request, stripPrefix, maxBody ?? request.maxBody),
    },
  };
  return input;
}

/** The body of a mount's request. */
class MountBody extends BodyReader {
  request: Request | undefined = undefined;

  /** A clone reads the first part by itself, as its stream is a branch of the body's: the handler has read nothing yet. */
  override close(): boolean {
    return super.close() && this.request?.bodyUsed === true;
  }
}

/** One request of a mount. */
class Mounting {
  readonly #request: InputRequest;
  readonly #stripPrefix: boolean;
  readonly #maxBody: number;
  readonly #body: MountBody | undefined;
  #failure: BodyFailure | undefined = undefined;

  constructor(request: InputRequest, stripPrefix: boolean, maxBody: number) {
    this.#request = request;
    this.#stripPrefix = stripPrefix;
    this.#maxBody = maxBody;
    // A standard `Request` has no body under these methods.
    const isBodiless = request.method === "GET" || request.method === "HEAD" || request.body === undefined;
    this.#body = isBodiless
      ? undefined
      : request.openBody((source, holder) => new MountBody(source, maxBody, holder), "replied");
  }

  /** What the handler answered, or why it was not called: at once where the handler answers at once. */
  answer(handler: (request: Request) => unknown): unknown {
    const origin = this.#origin();
    const refused = this.#refused(origin);
    if (refused !== undefined) return refused;
    const made = this.#made(origin + this.#path());
    let answered: unknown;
    try {
      answered = handler(made.request);
    } catch (thrown) {
      return this.#raised(thrown);
    }
    // A thenable may do its work each time that `then` is called.
    return isThenable(answered) ? this.#awaited(Promise.resolve(answered), made) : this.#answered(answered, made);
  }

  async #awaited(answering: Promise<unknown>, made: MountRequest): Promise<unknown> {
    try {
      if (!(await isSettledSoon(answering))) made.follow();
      return this.#answered(await answering, made);
    } catch (thrown) {
      return this.#raised(thrown);
    }
  }

  #raised(thrown: unknown): unknown {
    if (this.#failure !== undefined) return bodyRefusal(this.#failure);
    throw thrown;
  }

  #answered(answered: unknown, { follow }: MountRequest): unknown {
    // Whatever it answered rests on a part of the body.
    if (this.#failure !== undefined) {
      if (isResponse(answered)) cancel(answered);
      return bodyRefusal(this.#failure);
    }
    if (isRefusal(answered)) return answered;
    if (!isResponse(answered))
      throw new InvalidAnswerError(`a mount whose handler returned ${kindOf(answered)}, and not a Response`);
    const answer = pass(answered);
    // What is sent after the handler has returned may use the request, too.
    if (ResponseBody.is(answer.body)) answer.body.whenStreamed = follow;
    return answer;
  }

  #refused(origin: string): Refusal | undefined {
    const { rawPath, body } = this.#request;
    if (dotSegment.test(rawPath) || rawPath.includes("\\") || !isOrigin(origin)) return refuse(notFound);
    const isSocket = itemsOf(this.#request.lines("upgrade")).some((item) => item.toLowerCase().startsWith("websocket"));
    if (isSocket) return refuse(notImplemented, undefined, { detail: noSocket });
    if (this.#body !== undefined && body?.length !== undefined && body.length > this.#maxBody)
      return bodyRefusal(bodyTooLarge);
    return undefined;
  }

  #origin(): string {
    const { secure, host = "localhost" } = this.#request;
    return `${secure ? "https" : "http"}://${host}`;
  }

  #path(): string {
    const { prefix, rawPath, search, captured } = this.#request;
    const path = this.#stripPrefix ? `/${captured.at(-1) ?? ""}` : prefix + rawPath;
    return search === "" ? path : `${path}?${search}`;
  }

  #made(url: string): MountRequest {
    const { method } = this.#request;
    const body = this.#body && this.#stream(this.#body);
    const signals = (): readonly (AbortSignal | undefined)[] => {
      const { gone, deadlineSignal } = this.#request;
      return [gone, deadlineSignal];
    };
    const isOfConnection = connectionFields(this.#request.lines("connection"));
    // `Expect` is answered.
    const leavesOut = (name: string): boolean => name === "expect" || isOfConnection(name);
    const made = mountRequest({ url, method, headers: this.#request.headers(), leavesOut, body, signals });
    if (this.#body !== undefined) this.#body.request = made.request;
    return made;
  }

  #stream(body: BodyReader): ReadableStream<Uint8Array> {
    return new ReadableStream(
      {
        pull: async (controller) => {
          const read = await body.read();
          if (!read.ok) {
            this.#failure = read.error;
            controller.error(bodyRefusal(read.error));
          } else if (read.value === undefined) controller.close();
          else controller.enqueue(read.value);
        },
      },
      // Nothing is read, and no 100 is sent, before the handler asks.
      { highWaterMark: 0 },
    );
  }
}

/** A segment that `URL` takes as a step: `.`, `..`, and each with `%2E`. */
const dotSegment = /(?:^|\/)(?:\.|%2e){1,2}(?=\/|$)/i;

/** The last one that is an origin: nearly every request of a server has the same. */
let knownOrigin = "";

/** Whether a URL may begin with it. A path that follows cannot make it invalid (WHATWG URL, "path state"). */
function isOrigin(origin: string): boolean {
  if (origin === knownOrigin) return true;
  if (!URL.canParse(origin)) return false;
  knownOrigin = origin;
  return true;
}

const noSocket =
  "a mount opens no WebSocket: declare a route with Returns.websocket, or attach the other server to the listener's upgrade";

function cancel(response: Response): void {
  if (response.body !== null && !response.body.locked) response.body.cancel().then(undefined, () => undefined);
}

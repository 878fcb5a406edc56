// Types alone: a page that loads this module has its own copy of TanStack Query, and `skipToken` is the only symbol among inputs.
import type { DataTag, InfiniteData, SkipToken } from "@tanstack/query-core";

/** A refusal, as a call of the typed client resolves with it. */
interface AnyRefusal {
  readonly ok: false;
  readonly status: number;
  readonly error: string;
  readonly message: string;
}

/**
 * The error of a query or a mutation whose call was refused: the `error` of `useQuery`. `refusal` is the union of the route's
 * refusals, which `refusal.error` tells apart; its `message` is for the user.
 *
 * @example
 * ```ts
 * if (error?.refusal.error === "sold_out") return "Try another item.";
 * ```
 */
export class RefusedError<out Refusal extends AnyRefusal = AnyRefusal> extends Error {
  override readonly name = "RefusedError";
  /** What the call resolved with: the code, the status, the sentence and the problems. */
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal?.message);
    if (typeof refusal?.error !== "string") throw new TypeError("RefusedError: its refusal is none of a call");
    this.refusal = refusal;
  }
}

type OutcomeOf<Call> = Call extends (...given: never[]) => Promise<infer Outcome> ? Outcome : never;
type AnswerValue<Outcome> = Outcome extends { readonly ok: true; readonly value: infer Value } ? Value : never;
/** TanStack Query takes `undefined` for no data, so that of a response without a body is null. */
type DataOf<Call> = NullFor<AnswerValue<OutcomeOf<Call>>>;
type NullFor<Value> = Value extends undefined ? null : Value;
type ErrorOf<Call> = RefusedError<Extract<OutcomeOf<Call>, AnyRefusal>>;

/** The names of the routes that only read. */
type QueryRoute<Api> = keyof Api & `GET ${string}`;
type MutationRoute<Api> = Exclude<keyof Api & string, `GET ${string}`>;
/** The sentence of the error for a route whose value is read once. */
type Cached<Call> = [Extract<AnswerValue<OutcomeOf<Call>>, AsyncIterable<unknown> | Response>] extends [never]
  ? Call extends (...given: never[]) => unknown
    ? unknown
    : "A WebSocket is no query: open it by the client."
  : "A stream, or the body of a Response, is read once and cannot be cached: call the client.";

/** The inputs of a call. The signal is that of the query. */
type QueryGiven<Sent> = Sent & { readonly signal?: undefined };
type QueryInput<Call> = Call extends (...given: infer Given) => unknown
  ? Given extends readonly [given: infer Sent]
    ? [given: QueryGiven<Sent>]
    : Given extends readonly [given?: infer Sent]
      ? [given?: QueryGiven<Sent> | undefined]
      : never
  : never;
type SkippableInput<Call> = Call extends (...given: infer Given) => unknown
  ? Given extends readonly [given?: infer Sent]
    ? [given: QueryGiven<Sent> | SkipToken]
    : never
  : never;
type SentOf<Call> = Call extends (...given: infer Given) => unknown
  ? Given extends readonly [given?: infer Sent]
    ? Sent
    : never
  : never;

interface QueryContext {
  readonly signal: AbortSignal;
}
interface PageContext<Param> extends QueryContext {
  readonly pageParam: Param;
}
/** Options that TanStack Query infers the type of the error from. They are never there. */
interface InfersError<E> {
  /** Exists only in types. */
  readonly throwOnError?: (error: E) => boolean;
  /** Exists only in types. */
  readonly retryDelay?: (failureCount: number, error: E) => number;
}

/** The options of a query of one route: for `useQuery`, `useSuspenseQuery`, `QueryClient.fetchQuery` and the like. */
export interface RouteQuery<Data, E> extends InfersError<E> {
  /** `["GET /orders/{order_id}", { path: { order_id: 7 } }]`, after the base if there is one. */
  readonly queryKey: DataTag<readonly unknown[], Data, E>;
  /** Calls the route, with the signal of the query. */
  readonly queryFn: (context: QueryContext) => Promise<Data>;
}

/** The same where the inputs may be `skipToken`. */
export interface SkippableQuery<Data, E> extends InfersError<E> {
  /** As of {@link RouteQuery}. */
  readonly queryKey: DataTag<readonly unknown[], Data, E>;
  /** Calls the route, or is `skipToken`. */
  readonly queryFn: ((context: QueryContext) => Promise<Data>) | SkipToken;
}

/** The options of an infinite query of a list in pages. */
export interface RouteInfiniteQuery<Data, E, Param> extends InfersError<E> {
  /** As of {@link RouteQuery}, and `"pages"` after the inputs. */
  readonly queryKey: DataTag<readonly unknown[], InfiniteData<Data, Param>, E>;
  /** Calls the route for one page. */
  readonly queryFn: (context: PageContext<Param>) => Promise<Data>;
  /** Of the first page. */
  readonly initialPageParam: Param;
  /** Of the page after the last one; undefined where there is none. */
  readonly getNextPageParam: (last: Data, pages: readonly Data[]) => Param | undefined;
  /** Exists only in types, for that of `pageParams`. */
  readonly select?: (data: InfiniteData<Data, Param>) => InfiniteData<Data, Param>;
}

/** The same where the inputs may be `skipToken`. */
export interface SkippableInfiniteQuery<Data, E, Param> extends Omit<RouteInfiniteQuery<Data, E, Param>, "queryFn"> {
  /** Calls the route for one page, or is `skipToken`. */
  readonly queryFn: ((context: PageContext<Param>) => Promise<Data>) | SkipToken;
}

/** The options of a mutation of one route. Its variables are the inputs of the call. */
export interface RouteMutation<Data, E, Variables> extends InfersError<E> {
  /** `["POST /orders"]`, after the base if there is one. */
  readonly mutationKey: readonly unknown[];
  /** Calls the route. */
  readonly mutationFn: (variables: Variables) => Promise<Data>;
}

/** How the next page of a list is asked for, where its pages have no link `next`. */
export interface Paging<Data, Name, Param> {
  /** The query parameter that asks for a page. */
  readonly param: Name;
  /** Its value for the page after these; undefined where there is none. */
  readonly next: (last: Data, pages: readonly Data[]) => Param | undefined;
  /** Its value for the first page; none unless set. */
  readonly first?: Param | undefined;
}
type QueryOf<Call> = SentOf<Call> extends { readonly query?: infer Query } ? NonNullable<Query> : {};
type ParamOf<Call, Name> = Name extends keyof QueryOf<Call> ? Exclude<QueryOf<Call>[Name], undefined> : never;
/** The sentence of the error for a route whose pages have no link. */
type Linked<Call> =
  DataOf<Call> extends { readonly next?: string | null | undefined }
    ? Cached<Call>
    : "Its pages have no link `next`: say how the next page is asked for, { param, next }.";

type AnyCall = (given: object) => Promise<{ readonly ok: boolean; readonly value?: unknown } | AnyRefusal>;
interface PassedInput {
  readonly signal?: AbortSignal | undefined;
  readonly query?: object;
}
interface AnyInput {
  readonly query?: { readonly [name: string]: unknown } | undefined;
}

// One for all copies of the package.
const baseOf = Symbol.for("usher-http/tanstack-query base");

/**
 * The same client. The keys of its queries begin with `base`: for a page that calls two servers with the same routes.
 *
 * @throws TypeError for a client that is no object, and a base that is no text.
 * @example
 * ```ts
 * const eu = withBase(Client.of<typeof routes>({ baseUrl: "https://eu.example" }), "eu");
 * queryKey(eu, "GET /orders"); // ["eu", "GET /orders"]
 * ```
 */
export function withBase<Api extends object>(api: Api, base: string): Api {
  checkApi("withBase", api);
  if (typeof base !== "string") throw new TypeError("withBase: base is no text");
  return new Proxy(api, {
    get: (target, name) => (name === baseOf ? base : (Reflect.get(target, name) as unknown)),
  });
}

/**
 * The key of a route's queries, to invalidate, remove or cancel them: all of them, or those with these inputs. A part of the inputs is
 * enough.
 *
 * @example
 * ```ts
 * await queryClient.invalidateQueries({ queryKey: queryKey(api, "GET /orders") });
 * ```
 */
export function queryKey<Api extends object, Name extends keyof Api & string>(
  api: Api,
  route: Name,
  given?: { readonly [Part in keyof SentOf<Api[Name]>]?: Partial<SentOf<Api[Name]>[Part]> },
): readonly unknown[] {
  callOf("queryKey", api, route);
  const key = [...basesOf(api), route];
  if (given === undefined) return key;
  checkInput("queryKey", given);
  return [...key, inputsKey(given)];
}

/**
 * The options of a query that calls a `GET` route: its key, and a function that resolves with the `value` of the answer and throws a
 * {@link RefusedError} for a refusal. The signal of the query ends the call. With `skipToken` as the inputs nothing is called.
 *
 * What else a query has is added to them: `useQuery({ ...queryOptions(api, "GET /orders"), staleTime: 5000 })`. An answer without a
 * body is null. Every input is a part of the key, so give a credential to the client, by its `headers` or `fetch`, and not to the call.
 *
 * @example
 * ```ts
 * const { data, error } = useQuery(queryOptions(api, "GET /orders/{order_id}", { path: { order_id: 7 } }));
 * ```
 */
export function queryOptions<Api extends object, Name extends QueryRoute<Api>>(
  api: Api,
  route: Name & Cached<Api[Name]>,
  ...given: QueryInput<Api[Name]>
): RouteQuery<DataOf<Api[Name]>, ErrorOf<Api[Name]>>;
export function queryOptions<Api extends object, Name extends QueryRoute<Api>>(
  api: Api,
  route: Name & Cached<Api[Name]>,
  ...given: SkippableInput<Api[Name]>
): SkippableQuery<DataOf<Api[Name]>, ErrorOf<Api[Name]>>;
export function queryOptions(api: object, route: string, given: object | symbol = {}): object {
  const call = callOf("queryOptions", api, route, "GET ");
  const key = [...basesOf(api), route];
  if (typeof given === "symbol") return { queryKey: [...key, "skipped"], queryFn: given };
  checkInput("queryOptions", given);
  return {
    queryKey: [...key, inputsKey(given)],
    queryFn: ({ signal }: QueryContext) => dataOf(route, call, { ...given, signal }),
  };
}

/**
 * The options of an infinite query over a list in pages. Where a page has a link `next`, `"/orders?after=2&limit=2"`, the query of that
 * link asks for the next page: only its query is used, whatever address it has. A link to a page that was read already is the end.
 * Otherwise say how in `paging`.
 *
 * @example
 * ```ts
 * const pages = useInfiniteQuery(infiniteOptions(api, "GET /orders", { query: { limit: 20 } }));
 * const lines = useInfiniteQuery(
 *   infiniteOptions(api, "GET /lines", {}, { param: "after", next: (page) => page.lines.at(-1)?.id }),
 * );
 * ```
 */
export function infiniteOptions<Api extends object, Name extends QueryRoute<Api>>(
  api: Api,
  route: Name & Linked<Api[Name]>,
  ...given: QueryInput<Api[Name]>
): RouteInfiniteQuery<DataOf<Api[Name]>, ErrorOf<Api[Name]>, string>;
export function infiniteOptions<Api extends object, Name extends QueryRoute<Api>>(
  api: Api,
  route: Name & Linked<Api[Name]>,
  ...given: SkippableInput<Api[Name]>
): SkippableInfiniteQuery<DataOf<Api[Name]>, ErrorOf<Api[Name]>, string>;
export function infiniteOptions<
  Api extends object,
  Name extends QueryRoute<Api>,
  Param extends keyof QueryOf<Api[Name]>,
>(
  api: Api,
  route: Name & Cached<Api[Name]>,
  given: QueryGiven<SentOf<Api[Name]>>,
  paging: Paging<DataOf<Api[Name]>, Param, ParamOf<Api[Name], Param>>,
): RouteInfiniteQuery<DataOf<Api[Name]>, ErrorOf<Api[Name]>, ParamOf<Api[Name], Param> | null>;
export function infiniteOptions<
  Api extends object,
  Name extends QueryRoute<Api>,
  Param extends keyof QueryOf<Api[Name]>,
>(
  api: Api,
  route: Name & Cached<Api[Name]>,
  given: QueryGiven<SentOf<Api[Name]>> | SkipToken,
  paging: Paging<DataOf<Api[Name]>, Param, ParamOf<Api[Name], Param>>,
): SkippableInfiniteQuery<DataOf<Api[Name]>, ErrorOf<Api[Name]>, ParamOf<Api[Name], Param> | null>;
export function infiniteOptions(
  api: object,
  route: string,
  given: AnyInput | symbol = {},
  paging: Paging<never, string | number | symbol, unknown> = linked,
): object {
  const call = callOf("infiniteOptions", api, route, "GET ");
  if (typeof paging?.next !== "function" || typeof paging.param !== "string")
    throw new TypeError("infiniteOptions: paging is no object with `param` and `next`");
  const key = [...basesOf(api), route];
  const pages = { initialPageParam: paging.first ?? (paging === linked ? "" : null), getNextPageParam: paging.next };
  if (typeof given === "symbol") return { queryKey: [...key, "skipped"], queryFn: given, ...pages };
  checkInput("infiniteOptions", given);
  const { param: name } = paging;
  const ofPage = (param: unknown): object => {
    if (paging === linked) return fieldsIn(typeof param === "string" ? param : "");
    return param === null || param === undefined ? {} : { [name]: param };
  };
  return {
    // With the inputs of a query that is not in pages it has other data.
    queryKey: [...key, inputsKey(given), "pages"],
    queryFn: ({ signal, pageParam }: PageContext<unknown>) => {
      // A link has the names that are sent.
      const own = paging === linked ? Object.fromEntries(sentFields(given.query ?? {})) : given.query;
      return dataOf(route, call, { ...given, query: { ...own, ...ofPage(pageParam) }, signal });
    },
    ...pages,
  };
}

/**
 * The options of a mutation that calls a route of any method but `GET`. Its variables are the inputs of the call, and it throws a
 * {@link RefusedError} for a refusal.
 *
 * @example
 * ```ts
 * const place = useMutation(mutationOptions(api, "POST /orders"));
 * place.mutate({ json: { item: "pen", quantity: 2 } });
 * ```
 */
export function mutationOptions<Api extends object, Name extends MutationRoute<Api>>(
  api: Api,
  route: Name,
): RouteMutation<AnswerValue<OutcomeOf<Api[Name]>>, ErrorOf<Api[Name]>, VariablesOf<Api[Name]>>;
export function mutationOptions(api: object, route: string): object {
  const call = callOf("mutationOptions", api, route);
  return {
    mutationKey: [...basesOf(api), route],
    mutationFn: (given: object = {}) => answerTo(call, given),
  };
}
type VariablesOf<Call> = Call extends (...given: infer Given) => unknown
  ? Given extends readonly [given: infer Sent]
    ? Sent
    : Given extends readonly [given?: infer Sent]
      ? // `void` lets `mutate()` have no argument.
        Sent | void
      : never
  : never;

/**
 * Whether to try again: for the option `retry` of a `QueryClient`. TanStack Query repeats every failed query three times, after
 * 7 seconds in all, although most refusals stay what they are. This repeats only what may pass: no response, 408, 429 and 5xx.
 *
 * @example
 * ```ts
 * const queryClient = new QueryClient({ defaultOptions: { queries: { retry: mayRetry } } });
 * ```
 */
export function mayRetry(failureCount: number, error: unknown): boolean {
  if (typeof failureCount !== "number") throw new TypeError("mayRetry: failureCount is no number");
  // By its name: the error may be of another copy of the package.
  const { name, refusal } = (error ?? {}) as { readonly name?: unknown; readonly refusal?: AnyRefusal | null };
  if (!(failureCount < 3) || name !== "RefusedError") return false;
  const { status = 400 } = refusal ?? {};
  return status < 400 || status >= 500 || status === 408 || status === 429;
}

/** The link of a page: the query of its `next`. */
const linked: Paging<unknown, string, string> = {
  param: "",
  // TanStack Query gives the params of all pages, too.
  next: (last, _pages, _param?: string, params: readonly string[] = []) => {
    const { next } = (last ?? {}) as { readonly next?: unknown };
    // A query may have a `?` (RFC 3986 §3.4).
    const query = typeof next === "string" ? /^[^?#]*\?([^#]*)/.exec(next)?.[1] : undefined;
    // A link without a query would ask for the first page again, and one to a page that was read would never end.
    return query === undefined || query === "" || params.includes(query) ? undefined : query;
  },
};

/** The fields of a query by the names that the client sends: a member of an object is `filter[min]`. */
function sentFields(fields: object, nameOf: (member: string) => string = String): (readonly [string, unknown])[] {
  return Object.entries(fields).flatMap(([member, value]) => {
    const name = nameOf(member);
    return hasMembers(value)
      ? sentFields(value, (member) => `${name}[${member}]`).filter(([, one]) => one !== null)
      : [[name, value] as const];
  });
}

/** The fields of a query; a name that is given twice has a list. */
function fieldsIn(query: string): object {
  const params = new URLSearchParams(query);
  return Object.fromEntries([...params.keys()].map((name) => [name, single(params.getAll(name))]));
}

function single(texts: readonly string[]): string | readonly string[] {
  return texts.length === 1 ? (texts[0] ?? "") : texts;
}

async function dataOf(route: string, call: AnyCall, given: PassedInput): Promise<unknown> {
  const value = await answerTo(call, given);
  if (value instanceof Response || isStream(value)) {
    drop(value);
    throw new TypeError(`${route} answers with a stream, which is read once and cannot be cached`);
  }
  return value === undefined ? null : value;
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function drop(value: Response | AsyncIterable<unknown>): void {
  const ended = value instanceof Response ? value.body?.cancel() : value[Symbol.asyncIterator]().return?.();
  ended?.catch(() => {});
}

async function answerTo(call: AnyCall, given: PassedInput): Promise<unknown> {
  const outcome = await call(given);
  if (outcome.ok) return (outcome as { readonly value?: unknown }).value;
  // A call that its signal ended is unreachable, which it is not.
  given.signal?.throwIfAborted();
  throw new RefusedError(outcome as AnyRefusal);
}

function basesOf(api: object): readonly string[] {
  const base = (api as { readonly [baseOf]?: string })[baseOf];
  return base === undefined ? [] : [base];
}

function callOf(at: string, api: object, route: string, method = ""): AnyCall {
  checkApi(at, api);
  if (typeof route !== "string" || !/^[^ ]+ \//.test(route) || !route.startsWith(method))
    throw new TypeError(`${at}: route is no name of a route, as "${method || "POST "}/orders"`);
  const call = (api as { readonly [name: string]: unknown })[route];
  if (typeof call !== "function") throw new TypeError(`${at}: api has no call of this route`);
  return call as AnyCall;
}

function checkApi(at: string, api: unknown): void {
  // Nor a promise of one.
  if (typeof api !== "object" || api === null || typeof (api as { readonly then?: unknown }).then === "function")
    throw new TypeError(`${at}: api is no typed client`);
}

function checkInput(at: string, given: unknown): void {
  if (!hasMembers(given)) throw new TypeError(`${at}: given is no object of inputs`);
}

/** The inputs of a call in a key. Its signal is none of them, unlike a parameter of that name. */
function inputsKey(given: object): unknown {
  const { signal: _, ...inputs } = given as PassedInput;
  return keyPart(inputs);
}

/**
 * Inputs as they are sent, which a key can hold. TanStack Query compares keys by their JSON, which has no 64-bit number, has null for
 * NaN and for infinity, and `{}` for what is sent as its own text.
 */
function keyPart(value: unknown): unknown {
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))) return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(keyPart);
  if (hasMembers(value)) {
    const members = Object.entries(value).filter(([, one]) => one !== undefined);
    return Object.fromEntries(members.map(([name, one]) => [name, keyPart(one)]));
  }
  const { toJSON } = value as { readonly toJSON?: () => unknown };
  if (typeof toJSON !== "function") return String(value);
  const json = toJSON.call(value);
  return typeof json === "object" ? json : keyPart(json);
}

/** Whether the client sends each member of a value, and not its text. */
function hasMembers(value: unknown): value is object {
  return {}.toString.call(value) === "[object Object]" && typeof (value as Partial<Date>).toJSON !== "function";
}

/** The `Idempotency` namespace: requests that may be sent twice and are done once. */
import { structuredItem } from "../codecs/structured.ts";
import { custom, malformed } from "../codecs/codec.ts";
import type { Codec } from "../codecs/codec.ts";
import { needs, needsCount, needsOptions } from "../arguments.ts";
import type { AnyDep, CheckedRoute, Dep, DepNode } from "../inputs/dep.ts";
import { optional, required as requiredHeader } from "../inputs/header.ts";
import { isInput, storeInput } from "../inputs/store.ts";
import type { StoreFrom, StoreKind } from "../inputs/store.ts";
import { ok } from "../result.ts";
import { IdempotentRequest, answerLost, inUse, reused } from "./idempotent-request.ts";
import type { KeySettings } from "./idempotent-request.ts";
import type { IdempotencyStore } from "./idempotency-store.ts";

export { answerLost, inUse, reused } from "./idempotent-request.ts";
export { memory } from "./idempotency-store.ts";
export type {
  IdempotencyAnswer,
  IdempotencyClaim,
  IdempotencyEntry,
  IdempotencyMemoryOptions,
  IdempotencyStore,
} from "./idempotency-store.ts";

/** The options of `Idempotency.by`. */
export interface IdempotencyOptions<R extends string = string, W = unknown> {
  /**
   * Whose key it is: the id of an account, of a tenant, of an API key. The same key of another caller is another key. Where all
   * callers are one, it is `Dep.return("everybody")`: then who knows a key and its request gets the answer.
   */
  readonly caller: Dep<string, R, W>;
  /** Whether a request without a key is a 400; unless set, it runs like any other. */
  readonly required?: boolean;
  /** Whether the key may also come without its quotes, as several services document it; the quotes make no difference then. */
  readonly bare?: boolean;
  /** The most characters of a key: 255 unless set. */
  readonly maxKey?: number;
  /** How long an answer is kept, in milliseconds: 24 hours unless set. */
  readonly keepMs?: number;
  /** The most bytes of an answer that is kept: 1 MiB unless set. Of a longer one it is kept that it was sent. */
  readonly maxAnswer?: number;
  /**
   * How long after its process was killed a request counts as running, in milliseconds: 30,000 unless set. A handler may take longer.
   * It is not for a store in the handler's transaction, where the claim ends with the transaction.
   */
  readonly leaseMs?: number;
  /**
   * What is done with a key whose first request ended without an answer: its process was killed. `"refuse"` answers 409
   * `idempotency_answer_lost`, since the work may be done. `"run"` runs it again, for a handler that does no harm by that.
   */
  readonly whenLost?: "refuse" | "run";
}

/** The codes of `Idempotency.by`. */
export type IdempotencyCode = "idempotency_key_in_use" | "idempotency_key_reused" | "idempotency_answer_lost";

/**
 * An input that makes a route safe to ask twice, by the header `Idempotency-Key`
 * (draft-ietf-httpapi-idempotency-key-header-07). The first answer to a key is kept and sent again, with
 * `idempotent-replayed: true`, and the handler does not run again. Its value is the key; undefined without one.
 *
 * The key is looked up once every other input is valid: a 401 or a 400 of an input is not kept. Answers with 5xx and 429 are not
 * kept either: a later request with the key runs. Cookies, `Date` and `X-Request-Id` are not kept.
 *
 * With another method, path, query or body the key is 422 `idempotency_key_reused`. While its first request is being answered, it is
 * 409 `idempotency_key_in_use`. After the process of that was killed, it is 409 `idempotency_answer_lost`: see `whenLost`.
 *
 * @param store Where answers are kept: `Idempotency.memory`, `idempotencyStore` of `usher-http/redis`, `IdempotencyTable` of
 *   `usher-http/postgres`; a store, a resource, or an input that gives one, as {@link StoreFrom} says.
 * @throws TypeError for a wrong option. `App.make` refuses a route that answers with events, lines or a WebSocket, that reads its
 *   body as it arrives, or that is safe (`GET`).
 * @example
 * ```ts
 * const once = Idempotency.by(Idempotency.memory(), { caller: accountId, required: true });
 * const pay = post(Path.of("payments"), { inputs: { once, payment: json(Payment) }, returns: Returns.json(Receipt) }, charge);
 * ```
 */
export function by<R extends string, W, S extends string = never, X = {}>(
  store: StoreFrom<IdempotencyStore, S, X>,
  options: IdempotencyOptions<R, W> & { readonly required: true },
): Dep<string, R | S | IdempotencyCode, W & X & { headers: { "idempotency-key": string } }>;
export function by<R extends string, W, S extends string = never, X = {}>(
  store: StoreFrom<IdempotencyStore, S, X>,
  options: IdempotencyOptions<R, W>,
): Dep<string | undefined, R | S | IdempotencyCode, W & X & { headers?: { "idempotency-key"?: string | undefined } }>;
export function by(
  store: StoreFrom<IdempotencyStore, string, unknown>,
  options: IdempotencyOptions,
): Dep<never, never, never> {
  const given = storeInput(store, stores);
  const { key, caller, settings } = checkedOptions(options);
  const node: DepNode = {
    from: [key, caller, given],
    codes: [inUse, reused, answerLost],
    guards: true,
    check: (_format, route) => wrongRoute(route),
    compile:
      (_route, [keySlot = 0, callerSlot = 0, storeSlot = 0]) =>
      (request, values) => {
        const key = values[keySlot] as string | undefined;
        if (key === undefined) return undefined;
        const owner = { caller: callerOf(values[callerSlot]), key };
        const store = values[storeSlot] as IdempotencyStore;
        request.guardHandler(new IdempotentRequest(store, request, settings, owner));
        return key;
      },
  };
  return { node };
}

/** A new key for the header `idempotency-key` of a typed client, in its quotes: a random UUID. Send it with every try of one request. */
export function key(): string {
  return `"${crypto.randomUUID()}"`;
}

interface Checked {
  readonly key: AnyDep;
  readonly caller: AnyDep;
  readonly settings: KeySettings;
}

const stores: StoreKind = {
  at: "Idempotency.by: its store",
  what: "a store with claim, keep, extend and free",
  methods: ["claim", "keep", "extend", "free"],
};

function checkedOptions(options: IdempotencyOptions): Checked {
  needsOptions("Idempotency.by", options, "caller required bare maxKey keepMs maxAnswer leaseMs whenLost");
  const { caller, required = false, bare = false, whenLost = "refuse" } = options;
  needs(isInput(caller), "Idempotency.by: caller", caller, 'an input, such as Dep.return("everybody")');
  for (const [name, flag] of Object.entries({ required, bare })) {
    needs(typeof flag === "boolean", `Idempotency.by: ${name}`, flag, "true or false");
  }
  needs(whenLost === "refuse" || whenLost === "run", "Idempotency.by: whenLost", whenLost, '"refuse" or "run"');
  const { maxKey = 255, keepMs = dayMs, maxAnswer = 1_048_576, leaseMs = 30_000 } = options;
  for (const [name, bound] of Object.entries({ maxKey, keepMs, maxAnswer, leaseMs })) {
    needsCount(`Idempotency.by: ${name}`, bound);
  }
  // A longer timer would fire at once.
  needs(leaseMs <= 2 ** 31, "Idempotency.by: leaseMs", leaseMs, "milliseconds, at most 2³¹");
  const codec = keyCodec(maxKey, bare);
  const about = { doc: `Any new text for each request, 1 to ${maxKey} characters${bare ? "" : " in quotes"}.` };
  const key = required ? requiredHeader(header, codec, about) : optional(header, codec, about);
  return { key, caller, settings: { keepMs, maxAnswer, leaseMs, whenLost } };
}

const header = "idempotency-key";
const dayMs = 24 * 60 * 60 * 1000;

/** A caller without a name would get the answers of others. */
function callerOf(caller: unknown): string {
  needs(typeof caller === "string" && caller !== "", "Idempotency.by: what caller gives", caller, "a text");
  return caller as string;
}

const notKey = /* @__PURE__ */ malformed("an idempotency key, which is a text in quotes");

/** A string of RFC 9651, or the same without its quotes. */
function keyCodec(maxKey: number, bare: boolean): Codec<string> {
  const isKey = (key: unknown): key is string => typeof key === "string" && key !== "" && key.length <= maxKey;
  return custom({
    kind: "idempotency key",
    parse: (text) => {
      if (bare && isKey(text) && /^[!#-+\--:<-~]+$/.test(text)) return ok(text);
      const item = structuredItem.parse(text);
      const key = item.ok ? item.value[0] : undefined;
      return isKey(key) ? ok(key) : notKey;
    },
    print: (key) => structuredItem.print([key, new Map()]),
  });
}

const openEnded: ReadonlySet<string> = new Set(["events", "lines", "websocket"]);
const arriving: ReadonlySet<string> = new Set(["stream", "lines", "multipart"]);

function wrongRoute({ method, returns, bodies, nodes }: CheckedRoute): readonly string[] {
  const problems: string[] = [];
  if (method === "GET" || method === "OPTIONS")
    problems.push(`has an idempotency key, where ${method} changes nothing`);
  if (openEnded.has(returns)) problems.push("has an idempotency key, and answers with what is made while it is sent");
  if (bodies.some((as) => arriving.has(as))) {
    problems.push("has an idempotency key, which is for the whole body, and reads its body as it arrives");
  }
  if (nodes.filter(({ guards }) => guards === true).length > 1) problems.push("has two idempotency keys");
  return problems;
}

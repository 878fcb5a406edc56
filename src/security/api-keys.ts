/** The `ApiKeys` namespace: keys that programs send, made, checked, changed and revoked here. */
import { bearerToken, credentials } from "../codecs/credentials.ts";
import type { Credentials } from "../codecs/credentials.ts";
import { string } from "../codecs/codec.ts";
import { isObject, isTexts, needs, needsObject, needsOptions, needsText } from "../arguments.ts";
import { isToken } from "../http/fields.ts";
import { credential } from "../inputs/dep.ts";
import type { AnyDep, Dep, DepNode, Resource } from "../inputs/dep.ts";
import { optional as optionalHeader } from "../inputs/header.ts";
import type { InputRequest } from "../inputs/request.ts";
import { isInput, needsStoreFrom, storeInput } from "../inputs/store.ts";
import type { StoreFrom, StoreKind } from "../inputs/store.ts";
import { OpenByCredential, defaultRecheckMs, needsRecheck, validWhile } from "../inputs/validity.ts";
import { current } from "../logging/context.ts";
import { log } from "../logging/writer.ts";
import { Refusal } from "../refusals.ts";
import type { ApiKeyEntry, ApiKeyStore } from "./api-key-store.ts";
import { freshKey, isKey, isPrefix } from "./api-key-text.ts";
import {
  challengeOf,
  firstReadOf,
  isScope,
  mayNot,
  notAllowed,
  pleaseSignIn,
  schemeNameOf,
  signedOut,
} from "./credential-codes.ts";
import { digestOf } from "./session-store.ts";

export { memory } from "./api-key-store.ts";
export type { ApiKeyEntry, ApiKeyStore } from "./api-key-store.ts";
export { notAllowed, signedOut } from "./credential-codes.ts";

/**
 * The keys of an application, made by `ApiKeys.make`. `From` is the type of their store, or of the input that gives it: then
 * `ApiKeys.withStore` gives a handler the keys with their store.
 */
export interface ApiKeys<out From = ApiKeyStore> {
  /** What each key begins with. */
  readonly prefix: string;
  /** Where the digests of the keys are: the store that was given, or the input that gives it. */
  readonly store: From;
  /** How often the last use of a key is stored, in milliseconds. */
  readonly usedEveryMs: number;
  /** How often the key of an open event stream or WebSocket is looked up again, in milliseconds. */
  readonly recheckMs: number;
}

/** The options of `ApiKeys.make`. */
export interface ApiKeysOptions<From = ApiKeyStore> {
  /** What each key begins with, by which scanners of leaked secrets know it: `shop_live`, of lower-case letters, digits and `_`. */
  readonly prefix: string;
  /**
   * Where the digests of the keys are: `ApiKeys.memory()`, or `ApiKeyTable.store(pool, …)` of `usher-http/postgres`; a store, a resource,
   * or an input that gives one, as {@link StoreFrom} says.
   */
  readonly store: From;
  /** How often the last use of a key is stored at most, in milliseconds: a minute by default. */
  readonly usedEveryMs?: number;
  /**
   * How often the key of an open event stream or WebSocket is looked up again, in milliseconds: at least once in 30 seconds by
   * default. It ends then if the key was revoked. `ApiKeys.revoke` in the same process ends it at once.
   */
  readonly recheckMs?: number;
}

/** A key without its digest: what a handler gets, and a page shows. */
export type ApiKey = Omit<ApiKeyEntry, "digest">;

/** A key that was just made: the only time that its text is known. */
export interface CreatedApiKey {
  /** The key, to be shown to its owner once. */
  readonly key: string;
  /** What is stored of it. */
  readonly entry: ApiKey;
}

/** The keys of an application, made once. @throws TypeError for a prefix that cannot be one. */
export function make<From extends StoreFrom<ApiKeyStore, string, unknown>>(
  options: ApiKeysOptions<From>,
): ApiKeys<From> {
  needsOptions("ApiKeys.make", options, "prefix store usedEveryMs recheckMs");
  const { prefix, store, usedEveryMs = 60_000, recheckMs = defaultRecheckMs } = options;
  needs(
    isPrefix(prefix),
    "ApiKeys.make: prefix",
    prefix,
    "lower-case letters, digits and _ such as shop_live, 32 at most",
  );
  needsStoreFrom(store, stores);
  needs(Number.isFinite(usedEveryMs) && usedEveryMs >= 0, "ApiKeys.make: usedEveryMs", usedEveryMs, "milliseconds");
  needsRecheck("ApiKeys.make: recheckMs", recheckMs);
  return { prefix, store, usedEveryMs, recheckMs };
}

const stores: StoreKind = { at: "ApiKeys.make: store", what: "a store of API keys", methods: ["find", "add"] };

/**
 * An input that gives the keys with their store: for `ApiKeys.create`, `ApiKeys.list`, `ApiKeys.rotate` and `ApiKeys.revoke` in
 * a handler, where the store is a resource or comes by another input.
 *
 * @example
 * ```ts
 * const make = post(Path.of("keys"), { inputs: { keys: ApiKeys.withStore(keys) }, returns: Returns.text }, async ({ keys }) => {
 *   return (await ApiKeys.create(keys, { owner: "ada" })).key;
 * });
 * ```
 */
export function withStore<S extends string = never, X = {}>(
  keys: ApiKeys<StoreFrom<ApiKeyStore, S, X>>,
): Dep<ApiKeys, S, X> {
  needsKeys("ApiKeys.withStore", keys);
  const { node } = storeInput(keys.store, stores, (store: ApiKeyStore): ApiKeys => {
    if (!openByStore.has(store)) openByStore.set(store, openOf(keys));
    return { ...keys, store };
  });
  return { node };
}

/** Keys with a store of their own; where an input gives it, the compiler's error is this sentence. */
type OwnKeys<From> = ApiKeys<From> &
  (From extends AnyDep
    ? {
        readonly error: "Their store comes by an input: list `ApiKeys.withStore(keys)` among the inputs, and use its value.";
      }
    : ApiKeys);

/** What a new key is for. */
export interface NewApiKey {
  /** The account that it acts for. */
  readonly owner: string;
  /** What its owner calls it: empty by default. */
  readonly name?: string;
  /** What it allows: nothing by default. */
  readonly scopes?: readonly string[];
  /** When it expires: never by default. */
  readonly expiresAt?: Date | undefined;
}

/**
 * Makes a key, and stores its digest. Show the key to its owner now: it cannot be read again.
 *
 * @example
 * ```ts
 * const { key } = await ApiKeys.create(keys, { owner: "ada", scopes: ["orders:read"] });
 * ```
 */
export async function create<From>(keys: OwnKeys<From>, what: NewApiKey): Promise<CreatedApiKey> {
  const { prefix, store } = ownKeys("ApiKeys.create", keys);
  needsObject("ApiKeys.create: what it is for", what);
  const { owner, name = "", scopes = [], expiresAt } = what;
  needsText("ApiKeys.create: owner", owner);
  needsText("ApiKeys.create: name", name);
  needs(isTexts(scopes) && scopes.every(isScope), "ApiKeys.create: scopes", scopes, "a list of scopes without spaces");
  const isTime = expiresAt === undefined || (expiresAt instanceof Date && !Number.isNaN(expiresAt.getTime()));
  needs(isTime, "ApiKeys.create: expiresAt", expiresAt, "a date");
  const key = freshKey(prefix);
  const id = crypto.randomUUID();
  const entry: ApiKey = { id, owner, name, scopes: [...scopes], createdAt: new Date(), expiresAt, usedAt: undefined };
  await store.add({ ...entry, digest: await digestOf(key) });
  return { key, entry };
}

/**
 * Makes a key in the place of another one, with its owner, name, scopes and expiry. The older one expires after `overlapMs`: until
 * then both are valid, so that a program can change from one to the other.
 *
 * @returns Undefined where there is no such key, or it has expired.
 */
export async function rotate<From>(
  keys: OwnKeys<From>,
  id: string,
  options: { readonly overlapMs: number },
): Promise<CreatedApiKey | undefined> {
  const { store } = ownKeys("ApiKeys.rotate", keys);
  needsText("ApiKeys.rotate: id", id);
  needsOptions("ApiKeys.rotate", options, "overlapMs");
  const { overlapMs } = options;
  needs(Number.isFinite(overlapMs) && overlapMs >= 0, "ApiKeys.rotate: overlapMs", overlapMs, "milliseconds");
  const older = await store.get(id);
  const now = Date.now();
  if (older === undefined || hasExpired(older, new Date(now))) return undefined;
  const { owner, name, scopes, expiresAt } = older;
  const created = await create(keys, { owner, name, scopes, expiresAt });
  await store.expire(id, new Date(now + overlapMs));
  return created;
}

/** Ends a key at once. Returns whether there is one. */
export async function revoke<From>(keys: OwnKeys<From>, id: string): Promise<boolean> {
  const { store } = ownKeys("ApiKeys.revoke", keys);
  needsText("ApiKeys.revoke: id", id);
  const isOne = await store.expire(id, new Date());
  // Several stores may share what is open: of another one's key nothing ends.
  if (isOne) openOf({ store }).end(id);
  return isOne;
}

const openByStore = /* @__PURE__ */ new WeakMap<object, OpenByCredential>();

/** What is open in this process, by the ids of the keys of a store. Where an input makes a store for each request, these share it. */
function openOf({ store }: { readonly store: object }): OpenByCredential {
  let open = openByStore.get(store);
  if (open === undefined) openByStore.set(store, (open = new OpenByCredential()));
  return open;
}

/** The keys of an owner, the newest first; those that have expired too, until `store.sweep` deletes them. */
export async function list<From>(keys: OwnKeys<From>, owner: string): Promise<readonly ApiKey[]> {
  const { store } = ownKeys("ApiKeys.list", keys);
  needsText("ApiKeys.list: owner", owner);
  return (await store.list(owner)).map(shown);
}

/** What a client sends for a key. */
export interface ApiKeyWire<Name extends string> {
  /** The header with the key. */
  headers?: { [K in Name]?: string };
}

/** The input that gives the key of a request; and further inputs of the same key, which is looked up once. */
export interface ApiKeyInput<Name extends string, S extends string = never, X = {}> extends Dep<
  ApiKey,
  "signed_out" | S,
  ApiKeyWire<Name> & X
> {
  /** The key of a request that has one; undefined without one. A wrong key is still a 401. */
  readonly optional: Dep<ApiKey | undefined, "signed_out" | S, ApiKeyWire<Name> & X>;
  /** The key, where it has all of these scopes; otherwise the answer is 403 `not_allowed`. */
  scope(
    ...scopes: readonly [string, ...(readonly string[])]
  ): Dep<ApiKey, "signed_out" | "not_allowed" | S, ApiKeyWire<Name> & X>;
}

/**
 * Who sends a request, by its API key: an input that gives what is stored of it. Without a valid key the answer is 401 `signed_out`,
 * before the body is read; the log alone has the reason.
 *
 * @param keys Made by `ApiKeys.make`; or a resource of such, where they are made with the app.
 * @param options `header` has the key, as `x-api-key`; by default it is sent as `Authorization: Bearer`. `from` is an input that
 *   gives the text of the key instead, or undefined without one: `Socket.credential("key.")`, for the WebSocket of a browser.
 * @example
 * ```ts
 * const caller = ApiKeys.input(keys);
 * const place = post(orders, { inputs: { caller: caller.scope("orders:write") }, returns: Returns.empty() }, () => {});
 * ```
 */
export function input<S extends string = never, X = {}, R extends string = never, W = {}>(
  keys: ApiKeys<StoreFrom<ApiKeyStore, S, X>> | Resource<ApiKeys>,
  options: { readonly from: Dep<string | undefined, R, W>; readonly doc?: string },
): ApiKeyInput<never, S | R, X & W>;
export function input<const Name extends string = "authorization", S extends string = never, X = {}>(
  keys: ApiKeys<StoreFrom<ApiKeyStore, S, X>> | Resource<ApiKeys>,
  options?: { readonly header?: Name; readonly doc?: string },
): ApiKeyInput<Name, S, X>;
export function input<S extends string, X>(
  keys: ApiKeys<StoreFrom<ApiKeyStore, S, X>> | Resource<ApiKeys>,
  options: { readonly header?: string; readonly from?: AnyDep; readonly doc?: string } = {},
): ApiKeyInput<string, S, X> {
  if (!isInput(keys)) needsKeys("ApiKeys.input", keys);
  needsOptions("ApiKeys.input", options, "header from doc");
  const { header, from, doc } = options;
  const isName = header === undefined || (typeof header === "string" && isToken(header));
  needs(isName, "ApiKeys.input: header", header, "a header's name");
  needs(from === undefined || isInput(from), "ApiKeys.input: from", from, "an input of a text");
  if (header !== undefined && from !== undefined) {
    throw new TypeError("ApiKeys.input: header and from are two places of the key: give one");
  }
  if (doc !== undefined) needsText("ApiKeys.input: doc", doc);
  const about = doc === undefined ? {} : { doc };
  const reader = new KeyReader(isInput(keys) ? keys : withStore(keys), { header: header?.toLowerCase(), from }, about);
  return {
    node: reader.allowing([]),
    optional: { node: reader.found.node },
    scope(...scopes) {
      const areScopes = scopes.length > 0 && scopes.every(isScope);
      needs(areScopes, "ApiKeys.input: scope", scopes[0], "a scope without spaces, one at least");
      return { node: reader.allowing(scopes) };
    },
  };
}

/** Where the key of a request is: in a header, in what an input gives, or in `Authorization` without both. */
interface KeyPlace {
  readonly header: string | undefined;
  readonly from: AnyDep | undefined;
}

function keySchemeName(read: string): string {
  return read.toLowerCase() === "x-api-key" ? "apiKey" : schemeNameOf("apiKey", read);
}

/** Reads the key of a request, and looks it up. */
class KeyReader {
  /** The stored key; undefined without one. */
  readonly found: AnyDep;
  /** For the API document alone: a request must have a key, with these scopes. */
  readonly #required: (scopes: readonly string[]) => AnyDep;
  readonly #challenge: (parameters: { readonly [name: string]: string }) => string;
  /** The keys whose use is being stored. */
  readonly #storing = new Set<string>();

  constructor(keys: Dep<ApiKeys, string, unknown>, { header, from }: KeyPlace, about: { readonly doc?: string }) {
    const isBearer = from === undefined && (header === undefined || header === "authorization");
    const scheme = isBearer ? "bearer" : "apiKey";
    // A JWT of the same app is the scheme bearer too.
    const described = { name: isBearer ? "bearerKey" : keySchemeName(header ?? firstReadOf(from as AnyDep)), ...about };
    this.#challenge =
      isBearer || header === undefined
        ? (parameters) => challengeOf("Bearer", parameters)
        : () => challengeOf("ApiKey", { header });
    const sent: AnyDep =
      from ?? (isBearer ? optionalHeader("authorization", credentials) : optionalHeader(header as string, string));
    // Around what a client sends for a key alone: the document shows what the input of the store reads.
    const given = credential(scheme, sent, { ...described, optional: true });
    this.#required = (scopes) => ({
      node: { from: [sent], credential: { scheme, ...described, scopes }, constant: () => undefined },
    });
    const values = [this.#challenge({}), this.#challenge({ error: "invalid_token" })];
    this.found = {
      node: {
        from: [given, keys],
        codes: [signedOut],
        challenges: values.map((value) => ({ code: signedOut.name, value })),
        compile:
          (_route, [slot = 0, keysSlot = 0]) =>
          (request, values) => {
            const given = values[slot];
            if (given === undefined) return undefined;
            const keys = values[keysSlot] as ApiKeys;
            if (!isBearer) return this.#find(keys, given as string, request);
            const token = bearerToken(given as Credentials);
            if (token !== undefined) return this.#find(keys, token, request);
            return (given as Credentials).scheme === "bearer" ? this.#refused("it is empty") : undefined;
          },
      },
    };
  }

  /** The key where it has all the scopes. */
  allowing(scopes: readonly string[]): DepNode {
    const missing = new Refusal(signedOut, pleaseSignIn, { challenge: this.#challenge({}) });
    const challenge = this.#challenge({ error: "insufficient_scope", scope: scopes.join(" ") });
    const scoping = { codes: [notAllowed], challenges: [{ code: notAllowed.name, value: challenge }] };
    return {
      from: [this.found, this.#required(scopes)],
      ...(scopes.length === 0 ? {} : scoping),
      compile:
        (_route, [slot = 0]) =>
        (_request, values) => {
          const key = values[slot] as ApiKey | undefined;
          if (key === undefined) return missing;
          const lacking = scopes.find((scope) => !key.scopes.includes(scope));
          if (lacking === undefined) return key;
          return new Refusal(notAllowed, mayNot, { challenge, detail: `the key has no scope ${lacking}` });
        },
    };
  }

  async #find(keys: ApiKeys, text: string, request: InputRequest): Promise<ApiKey | Refusal> {
    if (!isKey(keys.prefix, text)) return this.#refused("it is no key of this prefix, or its checksum is wrong");
    // By its digest: how long the search takes does not depend on the key.
    const digest = await digestOf(text);
    const entry = await keys.store.find(digest);
    if (entry === undefined) return this.#refused("there is no such key");
    if (hasExpired(entry, request.now)) return this.#refused("it has expired, or was revoked");
    this.#noteUse(keys, entry, request);
    this.#endWith(keys, entry, digest, request);
    return shown(entry);
  }

  /** What follows the request's answer ends with the key. */
  #endWith(keys: ApiKeys, { id, expiresAt }: ApiKeyEntry, digest: string, request: InputRequest): void {
    const { store, recheckMs } = keys;
    const foundAt = performance.now();
    validWhile(request, {
      until: expiresAt?.getTime(),
      everyMs: recheckMs,
      check: async () => {
        const entry = await store.find(digest);
        return entry !== undefined && !hasExpired(entry, new Date(request.now.getTime() + performance.now() - foundAt));
      },
      endsBy: (end) => openOf(keys).listen(id, end),
    });
  }

  #refused(detail: string): Refusal {
    return new Refusal(signedOut, pleaseSignIn, { challenge: this.#challenge({ error: "invalid_token" }), detail });
  }

  /** Stores the use after the answer, so that no request waits for it. */
  #noteUse({ store, usedEveryMs }: ApiKeys, { id, usedAt }: ApiKeyEntry, request: InputRequest): void {
    const at = request.now;
    const isRecent = usedAt !== undefined && at.getTime() - usedAt.getTime() < usedEveryMs;
    if (isRecent || this.#storing.has(id)) return;
    const write = async (): Promise<void> => {
      try {
        await store.used(id, at);
      } catch {
        const message = "the last use of an API key could not be stored";
        log({ level: "warn", source: "framework.http", message, fields: {}, context: current() });
      } finally {
        this.#storing.delete(id);
      }
    };
    try {
      request.later().add(write, true);
      this.#storing.add(id);
    } catch {
      // Too much waits already, and a later request does it.
    }
  }
}

function hasExpired({ expiresAt }: ApiKeyEntry, now: Date): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** Without the digest, and without members of the store's own. */
function shown({ id, owner, name, scopes, createdAt, expiresAt, usedAt }: ApiKeyEntry): ApiKey {
  return { id, owner, name, scopes, createdAt, expiresAt, usedAt };
}

function ownKeys(at: string, keys: ApiKeys<unknown>): ApiKeys {
  needsKeys(at, keys);
  if (isInput(keys.store)) throw new TypeError(`${at}: the store comes by an input: list ApiKeys.withStore(keys)`);
  return keys as ApiKeys;
}

function needsKeys(at: string, keys: unknown): void {
  const isMade = isObject(keys) && isObject(keys["store"]) && typeof keys["prefix"] === "string";
  needs(isMade, `${at}: its keys`, keys, "made by ApiKeys.make");
}

import { clear, make as makeCookie, named, oldestMs } from "../codecs/cookie.ts";
import type { Cookie, SetCookie } from "../codecs/cookie.ts";
import { string } from "../codecs/codec.ts";
import { needsOptions, needsSchema } from "../arguments.ts";
import { requestOf } from "../inputs/connection.ts";
import { credential } from "../inputs/dep.ts";
import type { AnyDep, Dep, Resource } from "../inputs/dep.ts";
import type { InputRequest } from "../inputs/request.ts";
import { needsStore, isInput, storeInput } from "../inputs/store.ts";
import type { StoreFrom, StoreKind, RefusesOfStore, WireOfStore } from "../inputs/store.ts";
import { missing } from "../inputs/text.ts";
import { OpenByCredential, defaultRecheckMs, needsRecheck, validWhile } from "../inputs/validity.ts";
import { current } from "../logging/context.ts";
import { isA } from "../logging/raised.ts";
import { log } from "../logging/writer.ts";
import { Refusal, invalidRefusal } from "../refusals.ts";
import { compileReader } from "../schema/read.ts";
import type { JsonReader } from "../schema/read.ts";
import type { StandardSchema, OutputOf, AnyStandard, Stored } from "../schema/standard.ts";
import type { AnyShape, ValueOf } from "../schema/valibot.ts";
import { compileWriter } from "../schema/write.ts";
import type { JsonWriter } from "../schema/write.ts";
import { digestOf, freshSessionId, isSessionId } from "./session-store.ts";
import type { Amendable, SessionEntry, SessionStore } from "./session-store.ts";

/** Sets a cookie on the response: the input `setCookie`. */
type SessionCookieDep = (cookie: SetCookie) => void;

/**
 * Sign-in sessions: the browser holds an id in a cookie, the store holds its digest and the data. `From` is the type of their store, or
 * of the input that gives it.
 */
export interface Sessions<in out A, From = SessionStore> {
  /** The request's session: a 400 problem `required` at `cookie.<name>` where it has none. */
  readonly required: Dep<Session<A>, RefusesOfStore<From>, WireOfStore<From>>;
  /** The request's session; undefined where it has none. To answer 401, refuse in a `Dep.join`. */
  readonly optional: Dep<Session<A> | undefined, RefusesOfStore<From>, WireOfStore<From>>;
  /** The sessions in their store: for a handler, where the store is a resource or comes by another input. */
  readonly withStore: Dep<SessionsInStore<A>, RefusesOfStore<From>, WireOfStore<From>>;
  /** As {@link SessionsInStore.find}, where the store is not a resource and comes by no other input. */
  readonly find: OfOwnStore<From, SessionsInStore<A>["find"]>;
  /** As {@link SessionsInStore.start}, where the store is a resource or comes by no other input. */
  readonly start: From extends AnyResource
    ? SessionsInStore<A>["start"]
    : OfOwnStore<From, SessionsInStore<A>["start"]>;
  /** As {@link SessionsInStore.sweep}, where the store is not a resource and comes by no other input. */
  readonly sweep: OfOwnStore<From, SessionsInStore<A>["sweep"]>;
}

/** A call that needs a store; where an input gives that, the compiler's error is this sentence. */
type OfOwnStore<From, Call> = From extends AnyDep
  ? { readonly error: "Their store comes by an input: list `sessions.withStore` among the inputs, and use its value." }
  : Call;
type AnyResource = AnyDep & { readonly name: string };
/** All that the type of a store says of its sessions: two kinds of store make one type. */
type SourceOf<From> = From extends AnyDep ? From : SessionStore;

/** The sessions in their store. */
export interface SessionsInStore<in out A> {
  /** The session of an id, outside of a route; undefined where the id has none. */
  find(id: string | undefined, now: Date): Promise<Session<A> | undefined>;
  /**
   * Starts a session with a new id and sets its cookie; the session of the request's cookie ends. Call it after the password
   * was checked, never before. It throws where the request has its answer already, as in a WebSocket or after the deadline.
   *
   * @param setCookie The input `setCookie` itself, because it identifies the request.
   */
  start(setCookie: SessionCookieDep, data: A): Promise<Session<A>>;
  /** Deletes expired sessions from the store and returns their number. */
  sweep(now: Date): Promise<number>;
}

/** The session of one user. */
export interface Session<in out A> {
  /** The application's data. */
  readonly data: A;
  /**
   * Replaces the data under the same id. With a function, changes the data that is stored now: another request may have changed it
   * since this one read it, as a refresh of its tokens does. Of two that do so in one moment the later may undo the earlier: keep
   * what is counted in the database. Nothing is stored where the function returns the same object.
   */
  update(data: A | ((stored: A) => A)): Promise<void>;
  /**
   * Replaces the id and restarts both time limits; the old id is invalid. Call it whenever a user gains rights. It throws where the
   * request has its answer already, as in a WebSocket or after the deadline.
   *
   * If another request has closed or renewed the session in the meantime, no cookie is set. The promise then rejects with
   * the {@link Refusal} of a request without a session: the 400 problem `required` at `cookie.<name>`.
   */
  renew(setCookie: SessionCookieDep): Promise<Session<A>>;
  /**
   * Ends the session, and the one that this `Session` was renewed to, and removes the cookie. A copy of the cookie is
   * invalid from then on.
   */
  close(setCookie: SessionCookieDep): Promise<void>;
}

/** The options of sessions. */
export interface SessionsOptions<S, From = SessionStore> {
  /**
   * `Sessions.memory` for one process, `SessionTable.store` of `usher-http/postgres` for several; a store, a resource, or an input
   * that gives one, as {@link StoreFrom} says.
   */
  readonly store: From;
  /** The shape of the data. Stored data of another shape, as of an older release, ends its session. */
  readonly shape: S;
  /** How long a session may be unused. */
  readonly idleMs: number;
  /** How long a session lasts, however often it is used. */
  readonly absoluteMs: number;
  /** The cookie's name: `session` by default. */
  readonly cookie?: string;
  /**
   * How often the session of an open event stream or WebSocket is looked up again, in milliseconds: at least once in 30 seconds by
   * default. It ends then if the session has. A sign-out in the same process ends it at once.
   */
  readonly recheckMs?: number;
}

/**
 * Sign-in sessions.
 *
 * @throws Error for a limit out of range, an invalid cookie name, or a shape that has no JSON.
 * @example
 * ```ts
 * const sessions = Sessions.make({ store: Sessions.memory(), shape: v.object({ clerk: v.string() }),
 *   idleMs: 30 * 60_000, absoluteMs: 12 * 3_600_000 });
 * ```
 */
export function make<S extends AnyShape, From extends StoreFrom<SessionStore, string, unknown>>(
  options: SessionsOptions<S, From>,
): Sessions<ValueOf<S>, SourceOf<From>>;
export function make<S extends StandardSchema, From extends StoreFrom<SessionStore, string, unknown>>(
  options: SessionsOptions<S, From> & { readonly shape: Stored<S> },
): Sessions<OutputOf<S>, SourceOf<From>>;
// For errors, as of `Returns.json`: a compiler reports the last of four overloads alone, and that is for any schema.
export function make<S extends AnyShape, From extends StoreFrom<SessionStore, string, unknown>>(
  options: SessionsOptions<S, From>,
): Sessions<ValueOf<S>, SourceOf<From>>;
// No schema reaches it that the others take.
export function make<S extends AnyStandard, From extends StoreFrom<SessionStore, string, unknown>>(
  options: SessionsOptions<S, From> & { readonly shape: S extends StandardSchema ? Stored<S> : unknown },
): Sessions<unknown, SourceOf<From>>;
export function make(
  options: SessionsOptions<AnyStandard, StoreFrom<SessionStore, string, unknown>>,
): Sessions<unknown> {
  return new KeptSessions<unknown>(options);
}

const stores: StoreKind = {
  at: "Sessions.make: store",
  what: "a store of sessions",
  methods: ["find", "save", "delete", "sweep"],
};

class KeptSessions<A> implements Sessions<A> {
  readonly #given: StoreFrom<SessionStore, string, unknown>;
  readonly withStore: Dep<SessionsInStore<A>>;
  readonly cookie: Cookie<string>;
  readonly required: Dep<Session<A>>;
  readonly optional: Dep<Session<A> | undefined>;
  readonly #idleMs: number;
  readonly #absoluteMs: number;
  readonly #recheckMs: number;
  readonly #reader: JsonReader<A>;
  readonly #writer: JsonWriter<A>;
  /** By the digest of the session. */
  readonly #open = new OpenByCredential();
  #hasWarned = false;

  constructor(options: SessionsOptions<AnyStandard, StoreFrom<SessionStore, string, unknown>>) {
    needsOptions("Sessions.make", options, "store shape idleMs absoluteMs cookie recheckMs");
    const { store, shape, idleMs, absoluteMs, cookie = "session", recheckMs = defaultRecheckMs } = options;
    this.#given = store;
    this.withStore = storeInput<SessionStore, SessionsInStore<A>>(store, stores, (store) => this.#in(store));
    needsSchema("Sessions.make: shape", shape);
    for (const [name, ms] of Object.entries({ idleMs, absoluteMs })) {
      if (ms > 0 && ms <= oldestMs) continue;
      const problem = `Sessions.make: ${name} must be milliseconds, more than 0, not ${ms}`;
      throw new Error(ms > oldestMs ? `${problem}: ${oldestMs} at most` : problem);
    }
    needsRecheck("Sessions.make: recheckMs", recheckMs);
    this.#recheckMs = recheckMs;
    this.cookie = named(cookie, string, {}, "Sessions.make");
    this.#idleMs = idleMs;
    this.#absoluteMs = absoluteMs;
    this.#reader = compileReader(shape) as JsonReader<A>;
    this.#writer = compileWriter(shape);
    this.optional = this.#optional(cookie, storeInput(store, stores));
    this.required = requiredOf(this.optional, cookie);
  }

  find(id: string | undefined, now: Date): Promise<Session<A> | undefined> {
    return this.#findIn(this.#own(), id, now);
  }

  sweep(now: Date): Promise<number> {
    return this.#own().sweep(now);
  }

  async start(setCookie: SessionCookieDep, data: A): Promise<Session<A>> {
    return this.#begin(this.#ofRequest(requestOf(setCookie)), setCookie, data);
  }

  #in(store: SessionStore): SessionsInStore<A> {
    return {
      find: (id, now) => this.#findIn(store, id, now),
      start: (setCookie, data) => this.#begin(store, setCookie, data),
      sweep: (now) => store.sweep(now),
    };
  }

  async #begin(store: SessionStore, setCookie: SessionCookieDep, data: A): Promise<Session<A>> {
    const request = requestOf(setCookie);
    needsCookie(request);
    const now = request?.now ?? new Date();
    const before = request?.cookie(this.cookie.name);
    const id = freshSessionId();
    const digest = await digestOf(id);
    const entry = this.#entry(this.#written(data), now, now);
    // The new cookie replaces the old one, so no request could close the old session later.
    if (isSessionId(before)) await this.ended(store, await digestOf(before));
    await store.save(digest, entry, "started", request);
    setCookie(makeCookie(this.cookie, id, { maxAgeMs: this.#absoluteMs }));
    return new KeptSession(this, store, digest, entry, data, now);
  }

  #own(): SessionStore {
    if (isInput(this.#given)) throw new Error("the sessions' store comes by an input: use their input withStore");
    return this.#given;
  }

  #ofRequest(request: InputRequest | undefined): SessionStore {
    if (!isResource(this.#given)) return this.#own();
    const store = request?.resource(this.#given.name);
    if (store === undefined) throw new Error("the sessions' store is not a resource of this request's app");
    needsStore(store, stores);
    return store as SessionStore;
  }

  #optional(cookie: string, store: Dep<SessionStore>): Dep<Session<A> | undefined> {
    return {
      node: {
        from: [idIn(cookie, false), store],
        compile:
          (_route, [id = 0, store = 0]) =>
          (request, values) => {
            // Without a cookie no promise is made.
            if (values[id] === undefined) return undefined;
            return this.#findFor(request, values[store] as SessionStore, values[id] as string);
          },
      },
    };
  }

  /** The session of a request. What follows the request's answer ends with the session. */
  async #findFor(request: InputRequest, store: SessionStore, id: string): Promise<Session<A> | undefined> {
    const session = await this.#findIn(store, id, request.now);
    if (session === undefined) return undefined;
    const { digest, createdAt } = session;
    const foundAt = performance.now();
    validWhile(request, {
      until: createdAt.getTime() + this.#absoluteMs,
      everyMs: this.#recheckMs,
      // Not as a request does it: what is open does not keep a session in use.
      check: async () => {
        const entry = await store.find(digest);
        const now = request.now.getTime() + performance.now() - foundAt;
        return entry !== undefined && entry.expiresAt.getTime() > now;
      },
      endsBy: (end) => this.#open.listen(digest, end),
    });
    return session;
  }

  async #findIn(store: SessionStore, id: string | undefined, now: Date): Promise<KeptSession<A> | undefined> {
    if (!isSessionId(id)) return undefined;
    const digest = await digestOf(id);
    const entry = await store.find(digest);
    if (entry === undefined) return undefined;
    const read = entry.expiresAt > now ? this.#reader.readText(entry.data) : undefined;
    if (read?.ok !== true) {
      if (read !== undefined) logUnreadable();
      await store.delete(digest);
      return undefined;
    }
    // Saved at most once in a tenth of the idle limit, and not with every request.
    const isStale = now.getTime() - entry.seenAt.getTime() > this.#idleMs / 10;
    if (isStale) await store.save(digest, this.#entry(entry.data, entry.createdAt, now), "seen");
    return new KeptSession(this, store, digest, entry, read.value, now);
  }

  /** Ends the session of a digest, and what is open of it in this process. */
  async ended(store: SessionStore, digest: string): Promise<void> {
    await store.delete(digest);
    this.#open.end(digest);
  }

  /** Moves the entry of a digest to a new id; throws the refusal where the entry is gone. */
  async renewed(
    store: SessionStore,
    digest: string,
    setCookie: SessionCookieDep,
    data: A,
    now: Date,
  ): Promise<Session<A>> {
    const id = freshSessionId();
    const next = await digestOf(id);
    const entry = this.#entry(this.#written(data), now, now);
    if (!(await this.#replace(store, digest, next, entry))) {
      throw invalidRefusal([missing(`cookie.${this.cookie.name}`)]);
    }
    setCookie(makeCookie(this.cookie, id, { maxAgeMs: this.#absoluteMs }));
    return new KeptSession(this, store, next, entry, data, now);
  }

  async #replace(store: MaybeOlderStore, digest: string, next: string, entry: SessionEntry): Promise<boolean> {
    if (store.replace !== undefined) return store.replace(digest, next, entry);
    if (!this.#hasWarned) logOlderStore();
    this.#hasWarned = true;
    if ((await store.find(digest)) === undefined) return false;
    await store.save(next, entry, "started");
    await store.delete(digest);
    return true;
  }

  /** The data that a digest has now; undefined where it has none. */
  async stored(store: SessionStore, digest: string): Promise<A | undefined> {
    const entry = await store.find(digest);
    const read = entry === undefined ? undefined : this.#reader.readText(entry.data);
    return read?.ok === true ? read.value : undefined;
  }

  /** The instant `ms` after that of a request; the same one within a tenth of the idle limit. */
  after(now: Date, ms: number): Date {
    return ms > this.#idleMs / 10 ? new Date(now.getTime() + ms) : now;
  }

  changed({ createdAt }: SessionEntry, data: A, now: Date): SessionEntry {
    return this.#entry(this.#written(data), createdAt, now);
  }

  #entry(data: string, createdAt: Date, now: Date): SessionEntry {
    const idle = now.getTime() + this.#idleMs;
    const expiresAt = new Date(Math.min(idle, createdAt.getTime() + this.#absoluteMs));
    return { data, createdAt, seenAt: now, expiresAt };
  }

  #written(data: A): string {
    const written = this.#writer.write(data);
    if (!written.ok) throw new Error(`a session's data: ${written.error}`);
    return written.value;
  }
}

/** A store as JavaScript may pass it: an older one has no `replace`. */
type MaybeOlderStore = Omit<SessionStore, "replace"> & Partial<Pick<SessionStore, "replace">>;

class KeptSession<A> implements Session<A>, Amendable<A> {
  readonly #sessions: KeptSessions<A>;
  readonly #store: SessionStore;
  readonly digest: string;
  /** The instant of the request that found it. */
  readonly #now: Date;
  /** The monotonic clock then. */
  readonly #foundAt = performance.now();
  #entry: SessionEntry;
  #data: A;
  #state: "open" | "renewed" | "closed" = "open";
  #renewed: Promise<Session<A>> | undefined;

  constructor(sessions: KeptSessions<A>, store: SessionStore, digest: string, entry: SessionEntry, data: A, now: Date) {
    this.#sessions = sessions;
    this.#store = store;
    this.digest = digest;
    this.#entry = entry;
    this.#data = data;
    this.#now = now;
  }

  get data(): A {
    return this.#data;
  }

  get createdAt(): Date {
    return this.#entry.createdAt;
  }

  async update(data: A | ((stored: A) => A)): Promise<void> {
    if (isChange(data)) return this.amend(data);
    if (this.#state !== "open") throw new Error("a session that was closed cannot be updated");
    this.#entry = this.#sessions.changed(this.#entry, data, this.#at);
    await this.#store.save(this.digest, this.#entry, "updated");
    this.#data = data;
  }

  /** Changes the data as it is stored now. */
  async amend(change: (data: A) => A): Promise<void> {
    const stored = (await this.#sessions.stored(this.#store, this.digest)) ?? this.#data;
    const changed = change(stored);
    if (changed === stored) this.#data = stored;
    else await this.update(changed);
  }

  async renew(setCookie: SessionCookieDep): Promise<Session<A>> {
    if (this.#state !== "open") throw new Error("a session that was closed cannot be renewed");
    needsCookie(requestOf(setCookie));
    this.#state = "renewed";
    this.#renewed = this.#sessions.renewed(this.#store, this.digest, setCookie, this.#data, this.#at);
    try {
      return await this.#renewed;
    } catch (error) {
      // After a failure of the store the session may still exist, so a second `renew` looks again.
      if (this.#state === "renewed" && !isA(Refusal, error)) this.#state = "open";
      throw error;
    }
  }

  async close(setCookie: SessionCookieDep): Promise<void> {
    this.#state = "closed";
    const renewed = await this.#renewed?.catch(() => undefined);
    if (renewed !== undefined) return renewed.close(setCookie);
    await this.#sessions.ended(this.#store, this.digest);
    setCookie(clear(this.#sessions.cookie));
  }

  /** Behind the instant of its request where that lasts, as with a stream or a WebSocket: it is in use. */
  get #at(): Date {
    return this.#sessions.after(this.#now, performance.now() - this.#foundAt);
  }
}

/** Data is what JSON can hold, and so no function. */
function isChange<A>(data: A | ((stored: A) => A)): data is (stored: A) => A {
  return typeof data === "function";
}

function isResource(given: StoreFrom<SessionStore, string, unknown>): given is Resource<SessionStore> {
  return isInput(given) && given.node.resource !== undefined;
}

/** Throws where a request has its answer: the browser would be left with an id that is no longer valid. */
function needsCookie(request: InputRequest | undefined): void {
  if (request?.timedOut !== undefined) throw request.timedOut;
  if (request?.isAnswered !== true) return;
  throw new Error("a session gets a new id before the answer of its request: the cookie could not be sent any more");
}

function requiredOf<A>(optional: Dep<Session<A> | undefined>, cookie: string): Dep<Session<A>> {
  const absent = missing(`cookie.${cookie}`);
  // The cookie again, because the API document must show it as required here.
  const from = [optional, idIn(cookie, true)];
  return {
    node: {
      from,
      compile:
        (_route, [slot = 0]) =>
        (_request, values) =>
          values[slot] ?? absent,
    },
  };
}

/** The id in the request's cookie, as a credential. */
function idIn(cookie: string, required: boolean): Dep<string | undefined> {
  const need = { in: "cookie", name: cookie, required, style: "text", codec: string } as const;
  const id: Dep<string | undefined> = {
    node: { from: [], need, compile: () => (request: InputRequest) => request.cookie(cookie) },
  };
  return credential(cookie, id, { doc: "A session the server keeps, by the id its cookie holds." });
}

function logUnreadable(): void {
  const message = "a session's data is in no shape to be read, and the session is ended";
  log({ level: "debug", source: "framework.http", message, fields: {}, context: current() });
}

function logOlderStore(): void {
  const message = "the store of sessions has no replace: a sign-out at the moment of a renewal can be undone";
  log({ level: "warn", source: "framework.http", message, fields: {}, context: current() });
}

export { memory } from "./session-store.ts";
export type { MemoryOptions, SessionChange, SessionEntry, SessionStore } from "./session-store.ts";

import { clear, make, named, oldestMs } from "../codecs/cookie.ts";
import type { Cookie, SetCookie } from "../codecs/cookie.ts";
import { string } from "../codecs/scalars.ts";
import { requestOf } from "../inputs/connection.ts";
import { constant, credential } from "../inputs/dep.ts";
import type { Dep, Resource } from "../inputs/dep.ts";
import type { InputRequest } from "../inputs/request.ts";
import { required as missing } from "../inputs/text.ts";
import { current } from "../logging/context.ts";
import { log } from "../logging/writer.ts";
import { Refusal, invalidRefusal } from "../refusals.ts";
import { compileReader } from "../schema/read.ts";
import type { JsonReader } from "../schema/read.ts";
import type { Shape, ValueOf } from "../schema/valibot.ts";
import { compileWriter } from "../schema/write.ts";
import type { JsonWriter } from "../schema/write.ts";
import { digestOf, freshSessionId, isSessionId } from "./session-store.ts";
import type { SessionEntry, SessionStore } from "./session-store.ts";

/** What sets a cookie on the answer: the input `setCookie`. */
type SessionCookieDep = (cookie: SetCookie) => void;

/** Sign-in sessions: the browser holds an id in a cookie, the store holds its digest and the data. */
export interface Sessions<in out A> {
  /** Whose request it is: a 400 problem `required` at `cookie.<name>` where it is nobody's. */
  readonly required: Dep<Session<A>>;
  /** Whose request it is, or undefined where it is nobody's. For a 401 of the application's own, refuse in a `Dep.join`. */
  readonly optional: Dep<Session<A> | undefined>;
  /**
   * The session of an id, for where there is no route to read it: undefined where it is nobody's any more. Throws where
   * the store is a resource, which is known only within a request.
   */
  find(id: string | undefined, now: Date): Promise<Session<A> | undefined>;
  /**
   * Starts a session with a new id, whatever the request came with, and sets its cookie. Kept where the application opens
   * an account to somebody: after the password, and never before. The session that the browser came with is ended.
   *
   * @param setCookie The input of that name, as it is: by it the request is known.
   */
  start(setCookie: SessionCookieDep, data: A): Promise<Session<A>>;
  /** Deletes what has expired from the store, and answers how many that were; of a resource, call the store's own. */
  sweep(now: Date): Promise<number>;
}

/** One person's session. */
export interface Session<in out A> {
  readonly data: A;
  /** Keeps other data, under the same id. */
  update(data: A): Promise<void>;
  /**
   * A new id, with both limits from the start; the old one is gone. For whenever somebody may do more than before.
   *
   * Where another request has closed or renewed the session in the meantime, there is none to renew: no cookie is set, and
   * the promise rejects with the {@link Refusal} of a request of nobody, the 400 problem `required` at `cookie.<name>`.
   */
  renew(setCookie: SessionCookieDep): Promise<Session<A>>;
  /**
   * Ends it, and what this very `Session` was renewed to, and removes the cookie: a copy of the cookie is nobody's from
   * then on.
   */
  close(setCookie: SessionCookieDep): Promise<void>;
}

/** What sessions are made with. */
export interface SessionsOptions<S extends Shape> {
  /**
   * {@link memory} for one process; PostgreSQL's for several. A resource where it is made with the program's other ones,
   * when the routes are declared already.
   */
  readonly store: SessionStore | Resource<SessionStore>;
  /** What is kept of somebody. What is kept in another shape, of an older release, is nobody's. */
  readonly shape: S;
  /** How long a session may be left alone. */
  readonly idleMs: number;
  /** How long it lasts, however much it is used. */
  readonly absoluteMs: number;
  /** The cookie's name: `session` unless set. */
  readonly cookie?: string;
}

/**
 * Sessions of one kind.
 *
 * @throws Error for a limit that is none, a name no cookie can have, or a shape no JSON can be.
 * @example
 * ```ts
 * const sessions = Sessions.create({ store: Sessions.memory(), shape: v.object({ clerk: v.string() }),
 *   idleMs: 30 * 60_000, absoluteMs: 12 * 3_600_000 });
 * ```
 */
export function create<S extends Shape>(options: SessionsOptions<S>): Sessions<ValueOf<S>> {
  return new KeptSessions<ValueOf<S>>(options);
}

class KeptSessions<A> implements Sessions<A> {
  readonly #store: SessionStore | Resource<SessionStore>;
  readonly cookie: Cookie<string>;
  readonly required: Dep<Session<A>>;
  readonly optional: Dep<Session<A> | undefined>;
  readonly #idleMs: number;
  readonly #absoluteMs: number;
  readonly #reader: JsonReader<A>;
  readonly #writer: JsonWriter<A>;
  #toldOfOlderStore = false;

  constructor({ store, shape, idleMs, absoluteMs, cookie = "session" }: SessionsOptions<Shape<A>>) {
    for (const [name, ms] of Object.entries({ idleMs, absoluteMs })) {
      if (ms > 0 && ms <= oldestMs) continue;
      const said = `Sessions.create: ${name} is milliseconds, more than 0, and not ${ms}`;
      throw new Error(ms > oldestMs ? `${said}: ${oldestMs} at most` : said);
    }
    this.#store = store;
    this.cookie = named(cookie, string);
    this.#idleMs = idleMs;
    this.#absoluteMs = absoluteMs;
    this.#reader = compileReader(shape);
    this.#writer = compileWriter(shape);
    this.optional = this.#optional(cookie);
    this.required = requiredOf(this.optional, cookie);
  }

  find(id: string | undefined, now: Date): Promise<Session<A> | undefined> {
    return this.#findIn(this.#own(), id, now);
  }

  sweep(now: Date): Promise<number> {
    return this.#own().sweep(now);
  }

  async start(setCookie: SessionCookieDep, data: A): Promise<Session<A>> {
    const asked = requestOf(setCookie);
    const store = isResource(this.#store) ? asked?.resource(this.#store.name) : this.#store;
    if (store === undefined) throw new Error("the sessions' store is no resource of this request's app");
    return this.#begin(
      store as SessionStore,
      setCookie,
      data,
      asked?.now ?? new Date(),
      asked?.cookie(this.cookie.name),
    );
  }

  async #begin(
    store: SessionStore,
    setCookie: SessionCookieDep,
    data: A,
    now: Date,
    before: string | undefined,
  ): Promise<Session<A>> {
    const id = freshSessionId();
    const digest = await digestOf(id);
    const entry = this.#entry(this.#written(data), now, now);
    // Its cookie is replaced by the new one: nobody could close it any more.
    if (before !== undefined && isSessionId(before)) await store.delete(await digestOf(before));
    await store.save(digest, entry, "started");
    setCookie(make(this.cookie, id, { maxAgeMs: this.#absoluteMs }));
    return new KeptSession(this, store, digest, entry, data, now);
  }

  #own(): SessionStore {
    if (isResource(this.#store)) throw new Error("the sessions' store is a resource, which only a request has");
    return this.#store;
  }

  #optional(cookie: string): Dep<Session<A> | undefined> {
    const store: Dep<SessionStore> = isResource(this.#store) ? this.#store : constant(this.#store);
    return {
      node: {
        from: [idIn(cookie, false), store],
        compile:
          (_place, [id = 0, store = 0]) =>
          (asked, values) => {
            // Where there is nothing to find, nothing waits.
            if (values[id] === undefined) return undefined;
            return this.#findIn(values[store] as SessionStore, values[id] as string, asked.now);
          },
      },
    };
  }

  async #findIn(store: SessionStore, id: string | undefined, now: Date): Promise<Session<A> | undefined> {
    if (id === undefined || !isSessionId(id)) return undefined;
    const digest = await digestOf(id);
    const entry = await store.find(digest);
    if (entry === undefined) return undefined;
    const read = entry.expiresAt > now ? this.#reader.readText(entry.data) : undefined;
    if (read?.ok !== true) {
      if (read !== undefined) logUnreadable();
      await store.delete(digest);
      return undefined;
    }
    // Written now and then: a session that is used all the time would otherwise be written with every request.
    const isStale = now.getTime() - entry.seenAt.getTime() > this.#idleMs / 10;
    if (isStale) await store.save(digest, this.#entry(entry.data, entry.createdAt, now), "seen");
    return new KeptSession(this, store, digest, entry, read.value, now);
  }

  /** Moves what is kept under a digest to a new id; throws the refusal where nothing is kept there any more. */
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
    setCookie(make(this.cookie, id, { maxAgeMs: this.#absoluteMs }));
    return new KeptSession(this, store, next, entry, data, now);
  }

  async #replace(store: MaybeOlderStore, digest: string, next: string, entry: SessionEntry): Promise<boolean> {
    if (store.replace !== undefined) return store.replace(digest, next, entry);
    if (!this.#toldOfOlderStore) logOlderStore();
    this.#toldOfOlderStore = true;
    if ((await store.find(digest)) === undefined) return false;
    await store.save(next, entry, "started");
    await store.delete(digest);
    return true;
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

/** A store as JavaScript may hand it over: one of the older form has no `replace`. */
type MaybeOlderStore = Omit<SessionStore, "replace"> & Partial<Pick<SessionStore, "replace">>;

class KeptSession<A> implements Session<A> {
  readonly #sessions: KeptSessions<A>;
  readonly #store: SessionStore;
  readonly #digest: string;
  /** The instant of the request it was found in. */
  readonly #now: Date;
  #entry: SessionEntry;
  #data: A;
  #isClosed = false;
  #renewed: Promise<Session<A>> | undefined;

  constructor(sessions: KeptSessions<A>, store: SessionStore, digest: string, entry: SessionEntry, data: A, now: Date) {
    this.#sessions = sessions;
    this.#store = store;
    this.#digest = digest;
    this.#entry = entry;
    this.#data = data;
    this.#now = now;
  }

  get data(): A {
    return this.#data;
  }

  async update(data: A): Promise<void> {
    if (this.#isClosed) throw new Error("a session that was closed cannot be updated");
    this.#entry = this.#sessions.changed(this.#entry, data, this.#now);
    await this.#store.save(this.#digest, this.#entry, "updated");
    this.#data = data;
  }

  async renew(setCookie: SessionCookieDep): Promise<Session<A>> {
    if (this.#isClosed) throw new Error("a session that was closed cannot be renewed");
    this.#isClosed = true;
    this.#renewed = this.#sessions.renewed(this.#store, this.#digest, setCookie, this.#data, this.#now);
    try {
      return await this.#renewed;
    } catch (error) {
      // The store's failure says nothing about the session. Whether it is still there is asked again.
      this.#isClosed = error instanceof Refusal;
      throw error;
    }
  }

  async close(setCookie: SessionCookieDep): Promise<void> {
    this.#isClosed = true;
    const renewed = await this.#renewed?.catch(() => undefined);
    if (renewed !== undefined) return renewed.close(setCookie);
    await this.#store.delete(this.#digest);
    setCookie(clear(this.#sessions.cookie));
  }
}

function isResource(store: SessionStore | Resource<SessionStore>): store is Resource<SessionStore> {
  return "node" in store;
}

function requiredOf<A>(optional: Dep<Session<A> | undefined>, cookie: string): Dep<Session<A>> {
  const absent = missing(`cookie.${cookie}`);
  // The cookie again, for the API document: here nobody is let in without one.
  const from = [optional, idIn(cookie, true)];
  return {
    node: {
      from,
      compile:
        (_place, [slot = 0]) =>
        (_asked, values) =>
          values[slot] ?? absent,
    },
  };
}

/** The id a request came with, as what proves who asks. */
function idIn(cookie: string, required: boolean): Dep<string | undefined> {
  const need = { in: "cookie", name: cookie, required, repeated: false, codec: string } as const;
  const id: Dep<string | undefined> = {
    node: { from: [], need, compile: () => (asked: InputRequest) => asked.cookie(cookie) },
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

/** What sessions are to do: each request as the calls that it makes of its store, and what it is answered for what they gave. */
import type { SessionChange, SessionEntry } from "usher-http";

/** A call of a store. */
export type Call =
  | { readonly call: "find" | "delete"; readonly digest: string }
  | { readonly call: SessionChange; readonly digest: string; readonly entry: SessionEntry }
  | { readonly call: "replace"; readonly digest: string; readonly next: string; readonly entry: SessionEntry };

/** What a request does with the session of its cookie. */
export type Deed = "read" | "update" | "renew" | "close" | "start";

export const idleMs = 60_000;
export const absoluteMs = 200_000;

/** A digest that was not seen before: the model cannot know it before the call is made. */
export const fresh = "fresh";

/** A store, simple and slow. */
export class StoreModel {
  entries: Map<string, SessionEntry>;
  readonly #most: number;

  constructor(most: number, entries: Iterable<readonly [string, SessionEntry]> = []) {
    this.#most = most;
    this.entries = new Map(entries);
  }

  copy(): StoreModel {
    return new StoreModel(this.#most, this.entries);
  }

  become({ entries }: StoreModel): void {
    this.entries = entries;
  }

  make(call: Call): unknown {
    const kept = this.entries.get(call.digest);
    switch (call.call) {
      case "find":
        return kept;
      case "delete":
        this.entries.delete(call.digest);
        return undefined;
      case "replace":
        if (kept === undefined) return false;
        this.entries.delete(call.digest);
        this.entries.set(call.next, { ...call.entry, data: kept.data });
        return true;
      default:
        if (call.call === "started") this.#makeRoom();
        else if (kept === undefined) return undefined;
        // The one that was left alone for longest is the first to go.
        this.entries.delete(call.digest);
        this.entries.set(
          call.digest,
          call.call === "seen" && kept !== undefined ? { ...call.entry, data: kept.data } : call.entry,
        );
        return undefined;
    }
  }

  sweep(now: Date): number {
    const expired = [...this.entries].filter(([, { expiresAt }]) => expiresAt <= now);
    for (const [digest] of expired) this.entries.delete(digest);
    return expired.length;
  }

  #makeRoom(): void {
    const [oldest] = this.entries.keys();
    if (this.entries.size >= this.#most && oldest !== undefined) this.entries.delete(oldest);
  }
}

/** Another of the same request's is to be over first. */
const waits = "waits";
type Flow<A> = Generator<Call | typeof waits, A, unknown>;

/** A session, as one request has it. */
interface SessionModel {
  readonly digest: string;
  entry: SessionEntry;
  data: string;
  isClosed: boolean;
  renewing: { isOver: boolean; next: SessionModel | undefined } | undefined;
}

/** What the store's failure is, and what a session throws that was closed before: the application's bug, a 500. */
class Failed extends Error {}
/** A refusal of the framework's, a 400. */
class Refused extends Error {}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The digest that the cookie is set to, "" where it is removed, undefined where it stays. */
  readonly cookie: string | undefined;
}

/** What a request comes with. */
export interface Asking {
  /** The digest of the id in its cookie; undefined where there is none, or what is no id. */
  readonly digest: string | undefined;
  readonly now: Date;
  /** One or two. */
  readonly deeds: readonly Deed[];
  /** Two at once, and not one after the other. */
  readonly isTogether: boolean;
  /** What a session's data becomes. */
  readonly name: string;
}

const nobody: Answer = { status: 400, text: "nobody", cookie: undefined };
const bug: Answer = { status: 500, text: "bug", cookie: undefined };

/** A request, the calls that it waits for, and what it is answered in the end. */
export class RequestModel {
  readonly #asking: Asking;
  /** The requests that are running, and what each waits for. */
  readonly #flows: {
    readonly flow: Flow<unknown>;
    readonly deed: number;
    waitsFor: Call | typeof waits | undefined;
  }[] = [];
  #cookie: string | undefined = undefined;
  answer: Answer | undefined = undefined;

  constructor(asking: Asking) {
    this.#asking = asking;
    const { deeds, digest } = asking;
    // Its route reads no session.
    if (deeds.length === 1 && deeds[0] === "start") this.#run([this.#only(this.#start())]);
    else if (digest === undefined) this.answer = nobody;
    else this.#run([this.#found(digest)]);
  }

  /** The calls that wait, and which of two things at once each is part of. */
  get calls(): readonly { readonly call: Call; readonly deed: number }[] {
    return this.#flows.flatMap(({ waitsFor, deed }) => {
      return waitsFor === undefined || waitsFor === waits ? [] : [{ call: waitsFor, deed }];
    });
  }

  /** Continues after a call; `made` is the call with its real digests. */
  goOn(call: Call, made: Call, came: { readonly value: unknown } | "failed"): void {
    const at = this.#flows.find(({ waitsFor }) => waitsFor === call);
    if (at === undefined) throw new Error("nobody waits for that call");
    if (made.call === "replace") Object.assign(call, { next: made.next });
    if (made.call === "started") Object.assign(call, { digest: made.digest });
    const step = came === "failed" ? at.flow.throw(new Failed("away")) : at.flow.next(came.value);
    at.waitsFor = step.done === true ? undefined : step.value;
    for (const other of this.#flows) {
      if (other.waitsFor === waits) other.waitsFor = valueOf(other.flow.next(undefined as never));
    }
  }

  #run(flows: readonly Flow<unknown>[]): void {
    for (const [deed, flow] of flows.entries()) {
      const at = { flow, deed, waitsFor: undefined as Call | typeof waits | undefined };
      this.#flows.push(at);
      at.waitsFor = valueOf(flow.next(undefined as never));
    }
  }

  /** Whose request it is; then what it does. */
  *#found(digest: string): Flow<void> {
    let session: SessionModel | undefined;
    try {
      session = yield* this.#find(digest);
    } catch {
      this.answer = bug;
      return;
    }
    if (session === undefined) {
      this.answer = nobody;
      return;
    }
    const { deeds, isTogether } = this.#asking;
    const [first, second] = deeds as readonly [Deed, Deed?];
    if (second === undefined) {
      yield* this.#only(this.#do(first, session));
      return;
    }
    const outcomes: string[] = [];
    const both = [first, second].map((deed, i) =>
      this.#told(this.#do(deed, session), (outcome) => {
        outcomes[i] = outcome;
        const isLast = Object.keys(outcomes).length === 2;
        if (isLast) this.answer = { status: 200, text: outcomes.join(), cookie: this.#cookie };
      }),
    );
    if (isTogether) this.#run(both);
    else for (const flow of both) yield* flow;
  }

  /** All that it does: a failure is its answer. */
  *#only(flow: Flow<string>): Flow<void> {
    try {
      const text = yield* flow;
      this.answer = { status: 200, text, cookie: this.#cookie };
    } catch (thrown) {
      this.answer = thrown instanceof Refused ? nobody : bug;
    }
  }

  *#told(flow: Flow<string>, tell: (outcome: string) => void): Flow<void> {
    let outcome: string;
    try {
      outcome = yield* flow;
    } catch (thrown) {
      outcome = (thrown as Error).message;
    }
    tell(outcome);
  }

  #do(deed: Deed, session: SessionModel): Flow<string> {
    if (deed === "read") return read(session);
    if (deed === "update") return this.#update(session);
    if (deed === "renew") return this.#renew(session);
    return deed === "close" ? this.#close(session) : this.#start();
  }

  *#find(digest: string): Flow<SessionModel | undefined> {
    const { now } = this.#asking;
    const entry = (yield { call: "find", digest }) as SessionEntry | undefined;
    if (entry === undefined) return undefined;
    if (entry.expiresAt <= now) {
      yield { call: "delete", digest };
      return undefined;
    }
    const isStale = now.getTime() - entry.seenAt.getTime() > idleMs / 10;
    const seen = isStale ? entryOf(entry.data, entry.createdAt, now) : entry;
    if (isStale) yield { call: "seen", digest, entry: seen };
    const { name } = JSON.parse(entry.data) as { readonly name: string };
    return { digest, entry: seen, data: name, isClosed: false, renewing: undefined };
  }

  *#start(): Flow<string> {
    const { digest, now, name } = this.#asking;
    if (digest !== undefined) yield { call: "delete", digest };
    const call: Call = { call: "started", digest: fresh, entry: entryOf(dataOf(name), now, now) };
    yield call;
    this.#cookie = call.digest;
    return "started";
  }

  *#update(session: SessionModel): Flow<string> {
    if (session.isClosed) throw new Failed("over");
    const { now, name } = this.#asking;
    session.entry = entryOf(dataOf(name), session.entry.createdAt, now);
    yield { call: "updated", digest: session.digest, entry: session.entry };
    session.data = name;
    return "updated";
  }

  *#renew(session: SessionModel): Flow<string> {
    if (session.isClosed) throw new Failed("over");
    session.isClosed = true;
    const { digest, data } = session;
    const { now } = this.#asking;
    const renewing: SessionModel["renewing"] & {} = { isOver: false, next: undefined };
    session.renewing = renewing;
    const entry = entryOf(dataOf(data), now, now);
    const call: Call = { call: "replace", digest, next: fresh, entry };
    let isThere: boolean;
    try {
      isThere = (yield call) as boolean;
    } catch (thrown) {
      session.isClosed = false;
      throw thrown;
    } finally {
      renewing.isOver = true;
    }
    if (!isThere) throw new Refused("nobody");
    renewing.next = { digest: call.next, entry, data, isClosed: false, renewing: undefined };
    this.#cookie = call.next;
    return "renewed";
  }

  *#close(session: SessionModel): Flow<string> {
    session.isClosed = true;
    const { renewing } = session;
    while (renewing?.isOver === false) yield waits;
    if (renewing?.next !== undefined) return yield* this.#close(renewing.next);
    yield { call: "delete", digest: session.digest };
    this.#cookie = "";
    return "closed";
  }
}

// eslint-disable-next-line require-yield
function* read(session: SessionModel): Flow<string> {
  return session.data;
}

function valueOf<A>(step: IteratorResult<A, unknown>): A | undefined {
  return step.done === true ? undefined : step.value;
}

function dataOf(name: string): string {
  return JSON.stringify({ name });
}

function entryOf(data: string, createdAt: Date, now: Date): SessionEntry {
  const expiresAt = new Date(Math.min(now.getTime() + idleMs, createdAt.getTime() + absoluteMs));
  return { data, createdAt, seenAt: now, expiresAt };
}

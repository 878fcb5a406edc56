/** Sessions of clients of before 2026-07-28, and those in the memory of this process. */
import { needs, needsCount, needsObject } from "../../src/arguments.ts";
import type { RequestState } from "../../src/app/request.ts";
import { KeptStream, isBefore } from "./kept-stream.ts";
import type { Room } from "./kept-stream.ts";
import type { Owners } from "./session-owner.ts";

/** The option `sessions` of `Mcp.routes`. */
export interface McpSessions {
  /**
   * The most sessions: 1,000 unless given. One more ends a session of the address that has most: the one
   * that was used the longest ago, of those without a running call. Not on Workers.
   */
  readonly max?: number;
  /** How long a session without a message and without a running call is kept, in milliseconds: 30 minutes unless given. */
  readonly idleMs?: number;
  /** How long a call runs on whose client has left its stream, in milliseconds: 30 seconds unless given. */
  readonly resumeMs?: number;
  /**
   * The most characters of messages that are kept for the streams of one session: 65,536 unless given. Progress is dropped first,
   * and the oldest of it.
   */
  readonly maxKept?: number;
}

const members: readonly string[] = ["max", "idleMs", "resumeMs", "maxKept"];

/** From JavaScript it may be anything. */
export function checkSessions(sessions: McpSessions): void {
  needsObject("Mcp.routes: sessions", sessions);
  for (const [member, count] of Object.entries(sessions)) {
    needs(members.includes(member), "Mcp.routes: a member of sessions", member, `one of ${members.join(", ")}`);
    if (count !== undefined) needsCount(`Mcp.routes: sessions.${member}`, count);
  }
}

/** The most streams of a session that can be resumed; a further one cannot, while all of them run. */
const maxStreams = 8;

/** What a session is, besides what it runs. */
interface SessionRecord {
  readonly id: string;
  readonly version: string;
  /** The SHA-256 of the credentials that opened it. */
  readonly owner: string;
  /** The IPv4 address, or the /64 of the IPv6 address, of the client that opened it. Undefined if the client has no address. */
  readonly network?: string | undefined;
}

interface SessionMore {
  /** The number before that of its first stream. */
  readonly lastStream?: number;
  /** Called at the end of each call. */
  readonly finished?: () => void;
}

/** A session of one client. */
export class McpSession {
  readonly id: string;
  readonly version: string;
  readonly owner: string;
  readonly network: string | undefined;
  readonly #options: Required<McpSessions>;
  readonly #calls = new Map<unknown, AbortController>();
  readonly #streams = new Map<number, KeptStream>();
  readonly #room: Room = { messages: 0, make: () => this.#makeRoom() };
  readonly #finished: () => void;
  #usedAt: number;
  #lastStream: number;

  constructor(record: SessionRecord, now: number, options: Required<McpSessions>, more: SessionMore = {}) {
    this.id = record.id;
    this.version = record.version;
    this.owner = record.owner;
    this.network = record.network;
    this.#usedAt = now;
    this.#options = options;
    this.#lastStream = more.lastStream ?? 0;
    this.#finished = more.finished ?? (() => {});
  }

  get isRunning(): boolean {
    return this.#calls.size > 0;
  }

  use(now: number): void {
    this.#usedAt = Math.max(this.#usedAt, now);
  }

  /** Until when it is kept if no further message comes. */
  until(now: number): number {
    return (this.isRunning ? now : this.#usedAt) + this.#options.idleMs;
  }

  isOver(now: number): boolean {
    return now > this.until(now);
  }

  /** Begins a call; false where one of this id is running. */
  begin(id: unknown, call: AbortController): boolean {
    if (this.#calls.has(id)) return false;
    this.#calls.set(id, call);
    return true;
  }

  /** A call has ended: from now on the session may be idle. */
  finish(id: unknown, now: number): void {
    this.#calls.delete(id);
    this.use(now);
    this.#finished();
  }

  cancel(id: unknown): void {
    this.#calls.get(id)?.abort();
  }

  end(): void {
    for (const call of this.#calls.values()) call.abort();
  }

  /** A stream that can be resumed; undefined where 8 are running. */
  open(call: AbortController, request: RequestState): KeptStream | undefined {
    if (this.#streams.size >= maxStreams) {
      const done = [...this.#streams.values()].find(({ isDone }) => isDone);
      if (done === undefined) return undefined;
      this.#streams.delete(done.id);
    }
    const { resumeMs } = this.#options;
    // Not the request itself: the stream is kept, and would keep the message's bytes and the connection.
    const { app } = request;
    const left = { afterMs: resumeMs, isStopping: () => app.isStopping, call };
    const stream = new KeptStream(++this.#lastStream, this.#room, left);
    this.#streams.set(stream.id, stream);
    return stream;
  }

  stream(id: number): KeptStream | undefined {
    return this.#streams.get(id);
  }

  /** Drops messages, the oldest first, until there is room. */
  #makeRoom(): void {
    let kept = 0;
    for (const stream of this.#streams.values()) kept += stream.kept;
    while (kept > this.#options.maxKept) {
      let from: KeptStream | undefined;
      for (const stream of this.#streams.values()) if (isBefore(stream.oldest, from?.oldest)) from = stream;
      if (from === undefined) return;
      kept -= from.drop();
    }
  }
}

/** Where the sessions of one server are. */
export interface SessionHome {
  /** Opens a session, for the credentials of this request; resolves with its id. */
  open(version: string, request: RequestState): Promise<string>;
  /** The session of a request; undefined where the server has none of this id, or other credentials opened it. */
  find(id: string, request: RequestState): Promise<McpSession | undefined>;
  /** Ends a session that it has found. */
  end(session: McpSession): void | Promise<void>;
}

/** Sessions in the memory of this process. */
export class SessionTable implements SessionHome {
  readonly #options: Required<McpSessions>;
  readonly #owners: Owners;
  /** The one that was used the longest ago is the first: its last message, or the end of its last call. */
  readonly #sessions = new Map<string, McpSession>();

  constructor(options: Required<McpSessions>, owners: Owners) {
    this.#options = options;
    this.#owners = owners;
  }

  async open(version: string, request: RequestState): Promise<string> {
    const owner = await this.#owners.of(request);
    const now = request.now.getTime();
    for (const [id, session] of this.#sessions) {
      if (session.isOver(now)) this.#sessions.delete(id);
      // One that runs a call stays, however long ago it was used.
      else if (!session.isRunning) break;
    }
    const { network } = request;
    if (this.#sessions.size >= this.#options.max) this.#endOne(network);
    const record = { id: crypto.randomUUID(), version, owner, network };
    const finished = (): void => this.#used(session);
    const session = new McpSession(record, now, this.#options, { finished });
    this.#sessions.set(session.id, session);
    return session.id;
  }

  /** It is the one that was used last, unless it has ended. */
  #used(session: McpSession): void {
    if (this.#sessions.delete(session.id)) this.#sessions.set(session.id, session);
  }

  /** Ends a session of the address that has most, with the one to be opened: a client that opens many ends its own. */
  #endOne(network: string | undefined): void {
    const counts = new Map([[network, 1]]);
    for (const { network } of this.#sessions.values()) counts.set(network, (counts.get(network) ?? 0) + 1);
    const most = [...counts.values()].reduce((one, other) => Math.max(one, other));
    const all = [...this.#sessions.values()].filter(({ network }) => counts.get(network) === most);
    const last = all.find(({ isRunning }) => !isRunning) ?? all[0];
    if (last !== undefined) this.end(last);
  }

  async find(id: string, request: RequestState): Promise<McpSession | undefined> {
    if (!this.#sessions.has(id)) return undefined;
    const owner = await this.#owners.of(request);
    const session = this.#sessions.get(id);
    if (session === undefined || session.owner !== owner) return undefined;
    const now = request.now.getTime();
    if (session.isOver(now)) {
      this.#sessions.delete(id);
      return undefined;
    }
    session.use(now);
    this.#used(session);
    return session;
  }

  end(session: McpSession): void {
    this.#sessions.delete(session.id);
    session.end();
  }
}

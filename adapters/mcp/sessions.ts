/** Sessions of clients of before 2026-07-28, in the memory of this process. */
import { needs, needsCount, needsObject } from "../../src/given.ts";
import type { RequestState } from "../../src/app/request.ts";
import { encodeHex } from "../../src/http/bytes.ts";
import type { AnyDep, DepNode } from "../../src/inputs/dep.ts";
import { isWorkers } from "../../src/runtime.ts";
import { KeptStream } from "./kept-stream.ts";

/** The option `sessions` of `Mcp.routes`. */
export interface McpSessions {
  /** The most sessions: 1,000 unless given. One more ends the session that was used the longest ago, of those without a running call. */
  readonly max?: number;
  /** How long a session without a message is kept, in milliseconds: 30 minutes unless given. */
  readonly idleMs?: number;
  /** How long a call runs on whose client has left its stream, in milliseconds: 30 seconds unless given. */
  readonly resumeMs?: number;
  /** The most characters of messages that are kept for the streams of one session: 65,536 unless given. The oldest are dropped first. */
  readonly maxKept?: number;
}

const members: readonly string[] = ["max", "idleMs", "resumeMs", "maxKept"];

/** From JavaScript it may be anything. */
export function checkSessions(sessions: McpSessions): void {
  needsObject("Mcp.routes: sessions", sessions);
  // Each isolate has a memory of its own, and a request may not read the stream of another.
  if (isWorkers()) {
    throw new Error(
      "Mcp.routes: sessions are in the memory of one process, and Workers have none: leave the option out",
    );
  }
  for (const [member, count] of Object.entries(sessions)) {
    needs(members.includes(member), "Mcp.routes: a member of sessions", member, `one of ${members.join(", ")}`);
    if (count !== undefined) needsCount(`Mcp.routes: sessions.${member}`, count);
  }
}

/** The most streams of a session that can be resumed; a further one cannot, while all of them run. */
const maxStreams = 8;

/** A session of one client. */
export class McpSession {
  readonly id: string = crypto.randomUUID();
  readonly version: string;
  /** The SHA-256 of the credentials that opened it. */
  readonly owner: string;
  readonly #options: Required<McpSessions>;
  readonly #calls = new Map<unknown, AbortController>();
  readonly #streams = new Map<number, KeptStream>();
  #usedAt: number;
  #lastStream = 0;

  constructor(version: string, owner: string, now: number, options: Required<McpSessions>) {
    this.version = version;
    this.owner = owner;
    this.#usedAt = now;
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#calls.size > 0;
  }

  use(now: number): void {
    this.#usedAt = now;
  }

  isOver(now: number): boolean {
    return !this.isRunning && now - this.#usedAt > this.#options.idleMs;
  }

  /** Begins a call; false where one of this id is running. */
  begin(id: unknown, call: AbortController): boolean {
    if (this.#calls.has(id)) return false;
    this.#calls.set(id, call);
    return true;
  }

  finish(id: unknown): void {
    this.#calls.delete(id);
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
    const left = { afterMs: resumeMs, isStopping: () => request.app.isStopping, cancel: () => call.abort() };
    const stream = new KeptStream(++this.#lastStream, () => this.#makeRoom(), left);
    this.#streams.set(stream.id, stream);
    return stream;
  }

  stream(id: number): KeptStream | undefined {
    return this.#streams.get(id);
  }

  #makeRoom(): void {
    let kept = 0;
    for (const stream of this.#streams.values()) kept += stream.kept;
    for (const stream of this.#streams.values()) {
      if (kept <= this.#options.maxKept) return;
      kept -= stream.drop(kept - this.#options.maxKept);
    }
  }
}

/** The sessions of one server. */
export class SessionTable {
  readonly #options: Required<McpSessions>;
  /** The one that was used the longest ago is the first. */
  readonly #sessions = new Map<string, McpSession>();
  readonly #carriers: readonly Carrier[];

  constructor(
    { max = 1000, idleMs = 1_800_000, resumeMs = 30_000, maxKept = 65_536 }: McpSessions,
    inputs: readonly AnyDep[],
  ) {
    this.#options = { max, idleMs, resumeMs, maxKept };
    this.#carriers = carriersOf(inputs);
  }

  /** Opens a session, for the credentials of this request. */
  async open(version: string, request: RequestState): Promise<McpSession> {
    const owner = await this.#ownerOf(request);
    const now = request.now.getTime();
    for (const [id, session] of this.#sessions) {
      if (session.isOver(now)) this.#sessions.delete(id);
      // One that runs a call stays, however long ago it was used.
      else if (!session.isRunning) break;
    }
    if (this.#sessions.size >= this.#options.max) {
      const all = [...this.#sessions.values()];
      const last = all.find(({ isRunning }) => !isRunning) ?? all[0];
      if (last !== undefined) this.end(last);
    }
    const session = new McpSession(version, owner, now, this.#options);
    this.#sessions.set(session.id, session);
    return session;
  }

  /** The session of a request; undefined where the server has none of this id, or other credentials opened it. */
  async find(id: string, request: RequestState): Promise<McpSession | undefined> {
    if (!this.#sessions.has(id)) return undefined;
    const owner = await this.#ownerOf(request);
    const session = this.#sessions.get(id);
    if (session === undefined || session.owner !== owner) return undefined;
    const now = request.now.getTime();
    this.#sessions.delete(id);
    if (session.isOver(now)) return undefined;
    session.use(now);
    this.#sessions.set(id, session);
    return session;
  }

  end(session: McpSession): void {
    this.#sessions.delete(session.id);
    session.end();
  }

  async #ownerOf(request: RequestState): Promise<string> {
    const values = this.#carriers.map(({ name, cookie }) => {
      const lines = request.lines(name);
      return cookie === undefined ? lines : lines.flatMap((line) => cookiesOf(line, cookie));
    });
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(values)));
    return encodeHex(new Uint8Array(digest));
  }
}

/** Where a credential is sent: a header, or one cookie. */
interface Carrier {
  readonly name: string;
  readonly cookie?: string;
}

/** `Authorization`, and whatever the credentials of the routes are read from. */
function carriersOf(inputs: readonly AnyDep[]): readonly Carrier[] {
  const found = new Map<string, Carrier>([["authorization", { name: "authorization" }]]);
  const visit = (node: DepNode, isCredential: boolean): void => {
    const isOne = isCredential || node.credential !== undefined;
    const { need } = node;
    if (isOne && need?.in === "header") found.set(need.name.toLowerCase(), { name: need.name.toLowerCase() });
    if (isOne && need?.in === "cookie") found.set(`cookie ${need.name}`, { name: "cookie", cookie: need.name });
    for (const from of node.from) visit(from.node, isOne);
  };
  for (const { node } of inputs) visit(node, false);
  return [...found.values()];
}

function cookiesOf(line: string, name: string): readonly string[] {
  return line.split(";").filter((pair) => pair.replace(/^[ \t]+/, "").startsWith(`${name}=`));
}

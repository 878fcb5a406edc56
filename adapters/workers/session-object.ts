/** Sessions of MCP on Workers: each in a Durable Object, which answers all requests of the session with the Worker's app. */
import { creating } from "../../src/app/client-object.ts";
import type { ClientMemory, ClientObject, CreatedObject, ObjectContext } from "../../src/app/client-object.ts";
import { isObject, needs } from "../../src/arguments.ts";
import type { WorkerContext } from "./exchange.ts";

/** The used part of the binding of a class of Durable Objects. */
export interface SessionNamespace {
  /** A new id, which cannot be guessed. */
  newUniqueId(): SessionId;
  /** Throws for a text that is no id of this class. */
  idFromString(id: string): SessionId;
  /** What sends requests to an object. */
  get(id: SessionId): SessionStub;
}

/** The id of a Durable Object. */
export interface SessionId {
  /** The id in hexadecimal. */
  toString(): string;
}

/** What sends requests to a Durable Object. */
export interface SessionStub {
  /** Sends one request. */
  fetch(request: Request): Promise<Response>;
}

/** The used part of the state that the runtime gives to a Durable Object. */
export interface SessionState {
  /** The object's id. */
  readonly id: SessionId;
  /** What outlives the object in memory. */
  readonly storage: SessionStorage;
  /** Keeps the object running until the promise is settled. */
  waitUntil(work: Promise<unknown>): void;
}

/** The used part of the storage of a Durable Object. */
export interface SessionStorage {
  /** Reads a value. */
  get(key: string): Promise<unknown>;
  /** Writes a value. */
  put(key: string, value: unknown): Promise<void>;
  /** Removes everything. */
  deleteAll(): Promise<void>;
  /** When `alarm` is called next, in milliseconds since 1970. */
  getAlarm(): Promise<number | null>;
  /** Sets it. */
  setAlarm(at: number): Promise<void>;
  /** Unsets it. */
  deleteAlarm(): Promise<void>;
}

/** A Durable Object that holds a session. */
export interface SessionObject {
  /** Answers a request of the session. */
  fetch(request: Request): Promise<Response>;
  /** Deletes the session if it was not used for long enough. */
  alarm(): Promise<void>;
}

/** A handler with a `fetch`, as `worker` makes it. */
export interface SessionHandler<Env> {
  /** Answers one request. */
  fetch(request: Request, env: Env, ctx: WorkerContext): Response | Promise<Response>;
}

/** The part of its time by which an object lasts longer than it must: so often its alarm is set again while it is used. */
const slack = 1 / 16;

/**
 * Makes the class of the Durable Objects that hold the sessions of `Mcp.routes`, one session in each. Export it by the name that
 * `class_name` has in `wrangler.toml`.
 *
 * @param handler What `worker` made. The objects answer with its app.
 *
 * @example
 * ```ts
 * const handler = worker<Env>([...routes, ...Mcp.routes(routes, { name: "orders", version: "1", sessions: {} })], (env) => ({
 *   mcpSessions: env.MCP_SESSIONS,
 * }));
 * export default handler;
 * export const McpSession = mcpSessionClass(handler);
 * ```
 */
export function mcpSessionClass<Env>(
  handler: SessionHandler<Env>,
): new (state: SessionState, env: Env) => SessionObject {
  needs(isObject(handler) && "fetch" in handler, "mcpSessionClass: handler", handler, "made by worker");
  return class extends DurableSession<Env> {
    constructor(state: SessionState, env: Env) {
      super(state, env, handler);
    }
  };
}

class DurableSession<Env> implements ClientObject, SessionObject {
  readonly id: string;
  state: string | undefined = undefined;
  memory: ClientMemory | undefined = undefined;
  readonly #storage: SessionStorage;
  readonly #context: WorkerContext & ObjectContext;
  readonly #env: Env;
  readonly #handler: SessionHandler<Env>;
  #loaded: Promise<void> | undefined = undefined;
  #alarmAt = 0;

  constructor(state: SessionState, env: Env, handler: SessionHandler<Env>) {
    this.id = state.id.toString();
    this.#storage = state.storage;
    this.#context = { waitUntil: (work) => state.waitUntil(work), clientObject: this };
    this.#env = env;
    this.#handler = handler;
  }

  async fetch(request: Request): Promise<Response> {
    if (request.method === creating) return this.#create((await request.json()) as CreatedObject);
    await (this.#loaded ??= this.#load());
    const response = await this.#handler.fetch(request, this.#env, this.#context);
    const now = Date.now();
    const until = this.memory?.until(now) ?? 0;
    if (until > this.#alarmAt) await this.#last(until - now, now);
    return response;
  }

  async alarm(): Promise<void> {
    const now = Date.now();
    const until = this.memory?.until(now) ?? 0;
    await (until > now ? this.#last(until - now, now) : this.delete());
  }

  async delete(): Promise<void> {
    this.state = undefined;
    this.memory = undefined;
    await Promise.all([this.#storage.deleteAlarm(), this.#storage.deleteAll()]);
  }

  async #create({ state, lastsMs }: CreatedObject): Promise<Response> {
    this.state = state;
    this.#loaded = Promise.resolve();
    await Promise.all([this.#storage.put("state", state), this.#last(lastsMs, Date.now())]);
    return new Response(null, { status: 204 });
  }

  /** What is past its alarm is over, although the runtime has not called that yet. */
  async #load(): Promise<void> {
    const [state, alarmAt] = await Promise.all([this.#storage.get("state"), this.#storage.getAlarm()]).catch(
      (thrown: unknown) => {
        // The next request reads again.
        this.#loaded = undefined;
        throw thrown;
      },
    );
    if (alarmAt === null || alarmAt <= Date.now()) return;
    this.state = state as string | undefined;
    this.#alarmAt = alarmAt;
  }

  #last(ms: number, now: number): Promise<void> {
    this.#alarmAt = Math.ceil(now + ms * (1 + slack));
    return this.#storage.setAlarm(this.#alarmAt);
  }
}

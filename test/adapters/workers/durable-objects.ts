/** Durable Objects without workerd, for what a test holds: the clock, and when an object leaves memory. */
import type { SessionNamespace, SessionObject, SessionState } from "usher-http/workers";

/** The class of the objects. */
type ObjectClass = new (state: SessionState, env: unknown) => SessionObject;

/** What outlives an object in memory. */
class Storage {
  readonly kept = new Map<string, unknown>();
  alarmAt: number | null = null;
  /** How often something was written. */
  writes = 0;
  /** Whether nothing can be read. */
  isDown = false;

  async get(key: string): Promise<unknown> {
    if (this.isDown) throw new Error("the storage is down");
    return this.kept.get(key);
  }

  async put(key: string, value: unknown): Promise<void> {
    this.writes++;
    this.kept.set(key, value);
  }

  async deleteAll(): Promise<void> {
    this.kept.clear();
  }

  async getAlarm(): Promise<number | null> {
    return this.alarmAt;
  }

  async setAlarm(at: number): Promise<void> {
    this.writes++;
    this.alarmAt = at;
  }

  async deleteAlarm(): Promise<void> {
    this.alarmAt = null;
  }
}

/** A namespace whose objects are in this process. */
export class DurableObjects implements SessionNamespace {
  readonly storages = new Map<string, Storage>();
  readonly #inMemory = new Map<string, SessionObject>();
  readonly env: { readonly MCP_SESSIONS: SessionNamespace } = { MCP_SESSIONS: this };
  #class: ObjectClass | undefined = undefined;

  /** The class, which is made after what needs the namespace. */
  use(classOf: ObjectClass): void {
    this.#class = classOf;
  }

  newUniqueId(): string {
    const id = crypto.randomUUID().replaceAll("-", "").repeat(2);
    this.storages.set(id, new Storage());
    return id;
  }

  idFromString(id: string): string {
    if (!this.storages.has(id)) throw new TypeError("no id of this class");
    return id;
  }

  get(id: string): { fetch(request: Request): Promise<Response> } {
    return { fetch: (request) => this.#object(id).fetch(request) };
  }

  storage(id: string): Storage {
    return this.storages.get(id) as Storage;
  }

  /** Takes an object out of memory, as the runtime does with one that is idle. */
  evict(id: string): void {
    this.#inMemory.delete(id);
  }

  /** Calls the alarm of an object, if it is time. */
  async ring(id: string): Promise<boolean> {
    const storage = this.storage(id);
    if (storage.alarmAt === null || storage.alarmAt > Date.now()) return false;
    storage.alarmAt = null;
    await this.#object(id).alarm();
    return true;
  }

  #object(id: string): SessionObject {
    const found = this.#inMemory.get(id);
    if (found !== undefined) return found;
    const state = { id, storage: this.storage(id), waitUntil: () => {} };
    const made = new (this.#class as ObjectClass)(state, this.env);
    this.#inMemory.set(id, made);
    return made;
  }
}

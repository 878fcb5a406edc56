/** Sessions where requests share no memory: each is in an object of the runtime, which answers all its requests. */
import type { ClientObjects } from "../../src/app/client-object.ts";
import { internalRefusal } from "../../src/refusals.ts";
import type { RequestState } from "../../src/app/request.ts";
import type { AnyDep } from "../../src/inputs/dep.ts";
import { isWorkers } from "../../src/runtime.ts";
import { Owners } from "./session-owner.ts";
import { McpSession, SessionTable } from "./sessions.ts";
import type { McpSessions, SessionHome } from "./sessions.ts";

/** The text that an object is made with. */
interface ObjectText {
  /** The path of its server: an app may have several. */
  readonly path: string;
  readonly version: string;
  readonly owner: string;
}

/** The sessions of one server. */
export class ServerSessions {
  readonly #path: string;
  readonly #options: Required<McpSessions>;
  readonly #owners: Owners;
  readonly #table: SessionTable;

  constructor(
    path: string,
    { max = 1000, idleMs = 1_800_000, resumeMs = 30_000, maxKept = 65_536 }: McpSessions,
    inputs: readonly AnyDep[],
  ) {
    this.#path = path;
    this.#options = { max, idleMs, resumeMs, maxKept };
    this.#owners = new Owners(inputs);
    this.#table = new SessionTable(this.#options, this.#owners);
  }

  /** Where the session of a request is, or is opened. */
  of({ exchange: { objects } }: RequestState): SessionHome {
    if (objects !== undefined) return new ObjectSessions(objects, this.#path, this.#options, this.#owners);
    // Each isolate has a memory of its own, and a request may not read the stream of another.
    if (isWorkers()) throw internalRefusal(noObjects);
    return this.#table;
  }
}

const noObjects =
  "Mcp.routes has sessions, which App.fetch cannot keep on Workers: serve it by worker of usher-http/workers, with the option mcpSessions";

class ObjectSessions implements SessionHome {
  readonly #objects: ClientObjects;
  readonly #path: string;
  readonly #options: Required<McpSessions>;
  readonly #owners: Owners;

  constructor(objects: ClientObjects, path: string, options: Required<McpSessions>, owners: Owners) {
    this.#objects = objects;
    this.#path = path;
    this.#options = options;
    this.#owners = owners;
  }

  async open(version: string, request: RequestState): Promise<string> {
    const kept: ObjectText = { path: this.#path, version, owner: await this.#owners.of(request) };
    return this.#objects.create(JSON.stringify(kept), this.#options.idleMs);
  }

  async find(id: string, request: RequestState): Promise<McpSession | undefined> {
    const { here } = this.#objects;
    // A request whose id is of no object is answered by none.
    if (here === undefined || here.id !== id) return undefined;
    const owner = await this.#owners.of(request);
    if (here.state === undefined) return undefined;
    const kept = JSON.parse(here.state) as ObjectText;
    if (kept.path !== this.#path || kept.owner !== owner) return undefined;
    const now = request.now.getTime();
    const session = here.memory instanceof McpSession ? here.memory : this.#restored(id, kept, now);
    if (session.isOver(now)) {
      await here.delete();
      return undefined;
    }
    here.memory = session;
    session.use(now);
    return session;
  }

  async end(session: McpSession): Promise<void> {
    session.end();
    await this.#objects.here?.delete();
  }

  /** A session whose object is new in memory. No stream of before is there: none of its own has the number of one. */
  #restored(id: string, { version, owner }: ObjectText, now: number): McpSession {
    return new McpSession({ id, version, owner }, now, this.#options, { lastStream: now });
  }
}

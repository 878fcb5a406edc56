/** Brings the requests of sessions to Durable Objects of Workers. Here and not in the adapter of Workers: few Workers have sessions. */
import { DeclarationError } from "../../src/app/checks.ts";
import { clientState, creating } from "../../src/app/client-object.ts";
import type {
  ClientObject,
  ClientObjects,
  CreatedObject,
  ObjectContext,
  ObjectRouting,
  RoutedApp,
} from "../../src/app/client-object.ts";
import { unmade } from "../../src/app/web.ts";
import { isObject } from "../../src/arguments.ts";

interface ObjectId {
  toString(): string;
}

/** The used part of the binding of a class of Durable Objects. */
interface Namespace {
  newUniqueId(): ObjectId;
  /** Throws for a text that is no id of this class. */
  idFromString(id: string): ObjectId;
  get(id: ObjectId): { fetch(request: Request): Promise<Response> };
}

/**
 * The sessions of an app in the objects of a binding.
 *
 * @param max The option `max` of the sessions.
 */
export function sessionsIn(binding: unknown, app: RoutedApp, max: number | undefined): ObjectRouting {
  if (max !== undefined) throw new DeclarationError([uncounted]);
  if (!isObject(binding) || typeof binding["idFromString"] !== "function") throw new DeclarationError([noBinding]);
  return new SessionRouting(binding as unknown as Namespace, app);
}

const uncounted =
  "sessions.max of Mcp.routes cannot be counted on Workers, where each session is a Durable Object of its own: leave it out";
const noBinding =
  "Mcp.routes has sessions, which on Workers are Durable Objects: give worker the option mcpSessions, the binding of a class that mcpSessionClass makes";

class SessionRouting implements ObjectRouting {
  readonly #namespace: Namespace;
  readonly #app: RoutedApp;

  constructor(namespace: Namespace, app: RoutedApp) {
    this.#namespace = namespace;
    this.#app = app;
  }

  answer(request: Request, { clientObject }: ObjectContext): Promise<Response> | undefined {
    if (clientObject !== undefined) return undefined;
    const { method, url, headers } = request;
    const id = headers.get("mcp-session-id");
    if (id === null || !/^[\da-f]{64}$/.test(id)) return undefined;
    if (this.#app.match(method, url)?.route.route.meta.find(clientState) === undefined) return undefined;
    const found = this.#idOf(id);
    return found === undefined ? undefined : this.#namespace.get(found).fetch(request).catch(unmade);
  }

  in({ clientObject }: ObjectContext): ClientObjects {
    return new SessionObjects(this.#namespace, clientObject);
  }

  /** Undefined for an id of no object of this class: one that a client made up costs this check. */
  #idOf(id: string): ObjectId | undefined {
    try {
      return this.#namespace.idFromString(id);
    } catch {
      return undefined;
    }
  }
}

class SessionObjects implements ClientObjects {
  readonly here: ClientObject | undefined;
  readonly #namespace: Namespace;

  constructor(namespace: Namespace, here: ClientObject | undefined) {
    this.#namespace = namespace;
    this.here = here;
  }

  async create(state: string, lastsMs: number): Promise<string> {
    const id = this.#namespace.newUniqueId();
    const created: CreatedObject = { state, lastsMs };
    const request = new Request("http://session/", { method: creating, body: JSON.stringify(created) });
    await this.#namespace.get(id).fetch(request);
    return id.toString();
  }
}

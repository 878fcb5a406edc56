/**
 * The state of a client on a runtime whose requests share no memory. There one object of the runtime, with a memory of its own,
 * answers all requests of a client: a Durable Object of Workers.
 */
import { key } from "../routing/meta.ts";
import type { MetaKey } from "../routing/meta.ts";
import type { Route } from "../routing/route.ts";

/**
 * Marks a route that keeps state of its clients. A runtime that has objects calls the value for each such route, with the binding
 * that the application gave. It throws a `DeclarationError` where the state cannot be in objects of this binding.
 */
export const clientState: MetaKey<(binding: unknown, app: RoutedApp) => ObjectRouting> =
  /* @__PURE__ */ key("client state");

/** The used part of an app. */
export interface RoutedApp {
  /** Finds the route of a request. */
  readonly match: (method: string, target: string) => { readonly route: { readonly route: Route } } | undefined;
}

/** Brings each request to its object. */
export interface ObjectRouting {
  /** The answer of the object that a request is of; undefined where it is of none, or is there already. */
  answer(request: Request, context: ObjectContext): Promise<Response> | undefined;
  /** The objects, as the request with this context sees them. */
  in(context: ObjectContext): ClientObjects;
}

/** The context of a request. */
export interface ObjectContext {
  /** The object that answers the request, where one does. */
  readonly clientObject?: ClientObject;
}

/** The objects of an app. */
export interface ClientObjects {
  /**
   * Makes an object that keeps a text. It lasts `lastsMs` unless it is used. Resolves with its id: the object answers the later
   * requests that send it.
   */
  create(state: string, lastsMs: number): Promise<string>;
  /** The object that answers this request; undefined where no object does. */
  readonly here: ClientObject | undefined;
}

/** The object of one client. */
export interface ClientObject {
  readonly id: string;
  /** The text that it was made with; undefined if there is no such object, or no more. */
  readonly state: string | undefined;
  /** What its requests share, besides. It is gone once the runtime has removed the object from memory. */
  memory: ClientMemory | undefined;
  /** Deletes it, with its text. */
  delete(): Promise<void>;
}

/** The memory of an object. */
export interface ClientMemory {
  /** Until when the object is kept if no further request comes, in milliseconds since 1970. */
  until(now: number): number;
}

/** What a request with the method `creating` has as its body, in JSON. */
export interface CreatedObject {
  readonly state: string;
  readonly lastsMs: number;
}

/** The method that makes an object. No route of a session has it: no client can send it to one. */
export const creating = "PUT";

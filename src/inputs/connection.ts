import type { SetCookie } from "../codecs/cookie.ts";
import { carried } from "../logging/context.ts";
import type { InputRequest } from "./request.ts";
import type { Dep } from "./dep.ts";

/** The request's time: one instant for the whole request. */
export const now: Dep<Date> = fact((request) => request.now);

/** The request's id, which the response and every log line of the request have. */
export const requestId: Dep<string> = fact((request) => request.id);

/** The address that opened the connection: a proxy's, if there is one. */
export const peer: Dep<string> = fact((request) => request.peer);

/** The peer, or the address a trusted proxy forwarded for. */
export const client: Dep<string> = fact((request) => request.client);

/** A function that sets a cookie on the response; a refusal does not have it. */
export const setCookie: Dep<(cookie: SetCookie) => void> = fact((request) => {
  const set: SetCookieDep = (cookie) => request.setCookie(cookie);
  set[setFor] = request;
  return set;
});

/** The request of a `setCookie` function; undefined for a function that the framework did not make. */
export function requestOf(setCookie: SetCookieDep): InputRequest | undefined {
  return setCookie[setFor];
}

const setFor: unique symbol = Symbol("the request");
interface SetCookieDep {
  (cookie: SetCookie): void;
  [setFor]?: InputRequest;
}

/**
 * A function that adds a header to the response; a refusal does not have it. A header that the framework sets itself
 * (`content-type`, `set-cookie`, framing headers), or an invalid value, makes the response a 500.
 */
export const addHeader: Dep<(name: string, value: string) => void> = fact(
  (request) => (name, value) => request.addHeader(name, value),
);

/** Aborts when the client disconnects. */
export const clientGone: Dep<AbortSignal> = fact((request) => inRequestContext(request.gone));

// The connection aborts the signal outside of the request's context, so listeners get it back: their log lines have the
// request's id.
function inRequestContext(gone: AbortSignal): AbortSignal {
  if (gone.aborted) return gone;
  const controller = new AbortController();
  gone.addEventListener(
    "abort",
    carried(() => controller.abort(gone.reason)),
    { once: true },
  );
  return controller.signal;
}

/* @__NO_SIDE_EFFECTS__ */
function fact<A>(read: (request: InputRequest) => A): Dep<A> {
  return { node: { from: [], compile: () => read } };
}

import type { SetCookie } from "../codecs/cookie.ts";
import { carried } from "../logging/context.ts";
import type { InputRequest } from "./request.ts";
import type { Dep } from "./dep.ts";

/** The instant the request is answered at: one for the whole request. */
export const now: Dep<Date> = fact((asked) => asked.now);

/** The id on the answer, and on every line logged for the request. */
export const requestId: Dep<string> = fact((asked) => asked.id);

/** The address that opened the connection: the proxy, when there is one. */
export const peer: Dep<string> = fact((asked) => asked.peer);

/** The peer, or the address a trusted proxy forwarded for. */
export const client: Dep<string> = fact((asked) => asked.client);

/** A function that sets a cookie; it goes with an answer, and never with a refusal. */
export const setCookie: Dep<(cookie: SetCookie) => void> = fact((asked) => {
  const set: SetCookieDep = (cookie) => asked.setCookie(cookie);
  set[setFor] = asked;
  return set;
});

/** The request whose cookies a function sets; undefined for one that is not the framework's own. */
export function requestOf(setCookie: SetCookieDep): InputRequest | undefined {
  return setCookie[setFor];
}

const setFor: unique symbol = Symbol("the request");
interface SetCookieDep {
  (cookie: SetCookie): void;
  [setFor]?: InputRequest;
}

/**
 * A function that adds a header; it goes with an answer, and never with a refusal. A header that the framework
 * itself writes (`content-type`, `set-cookie`, those of framing), or a value no header can hold, makes the answer 500.
 */
export const addHeader: Dep<(name: string, value: string) => void> = fact(
  (asked) => (name, value) => asked.addHeader(name, value),
);

/** Aborts once the client has gone. */
export const clientGone: Dep<AbortSignal> = fact((asked) => heardIn(asked.gone));

// It is the connection that tells of it, which is in no request's context: what listens logs with its own request's id.
function heardIn(gone: AbortSignal): AbortSignal {
  if (gone.aborted) return gone;
  const heard = new AbortController();
  gone.addEventListener(
    "abort",
    carried(() => heard.abort(gone.reason)),
    { once: true },
  );
  return heard.signal;
}

function fact<A>(read: (asked: InputRequest) => A): Dep<A> {
  return { node: { from: [], compile: () => read } };
}

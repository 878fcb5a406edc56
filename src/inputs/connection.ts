import type { SetCookie } from "../codecs/cookie.ts";
import { needsFunction, needsOptions } from "../arguments.ts";
import { carried } from "../logging/context.ts";
import { certificateOf } from "./peer-certificate.ts";
import type { PeerCertificate } from "./peer-certificate.ts";
import { recordOf } from "./request.ts";
import type { InputRequest, RequestEnd, RequestRecord } from "./request.ts";
import { checkedValidity, validWhile as holdWhile } from "./validity.ts";
import type { Validity } from "./validity.ts";
import type { Dep } from "./dep.ts";

/** The request's time: one instant for the whole request. To change this `Date` changes no session and no cookie of the request. */
export const now: Dep<Date> = fromRequest((request) => request.givenNow);

/** The request's id, which the response and every log line of the request have. */
export const requestId: Dep<string> = fromRequest((request) => request.id);

/** The address that opened the connection: a proxy's, if there is one. */
export const peer: Dep<string> = fromRequest((request) => request.peer);

/** The peer, or the address a trusted proxy forwarded for. */
export const client: Dep<string> = fromRequest((request) => request.client);

/**
 * The certificate that the client showed in its TLS handshake (mutual TLS); undefined where it showed none. The option
 * `tls.clientCertificates` of `serve` asks for it, with `usher-http/node` on Node. On Workers it is Cloudflare's mTLS, with
 * `behindCloudflare`. Behind a proxy it is the proxy's: no header is read for it. On Bun and Deno a server does not start
 * with a route that reads it.
 *
 * @example
 * ```ts
 * const report = get(path, { inputs: { peerCertificate }, returns: Returns.text }, ({ peerCertificate }) => {
 *   return `for ${peerCertificate?.authorized === true ? peerCertificate.commonName : "no service"}`;
 * });
 * ```
 */
export const peerCertificate: Dep<PeerCertificate | undefined> = {
  node: { from: [], compile: () => (request) => certificateOf(request.exchange) },
};

/** A function that sets a cookie on the response; a refusal does not have it. */
export const setCookie: Dep<(cookie: SetCookie) => void> = fromRequest((request) => {
  const set: SetCookieFunction = (cookie) => request.setCookie(cookie);
  set[ownRequest] = request;
  return set;
});

/** The request of a `setCookie` function; undefined for a function that the framework did not make. */
export function requestOf(setCookie: SetCookieFunction): InputRequest | undefined {
  return setCookie[ownRequest];
}

const ownRequest: unique symbol = Symbol("the request");
interface SetCookieFunction {
  (cookie: SetCookie): void;
  [ownRequest]?: InputRequest;
}

/**
 * A function that adds a header to the response; a refusal does not have it. A header that the framework sets itself
 * (`content-type`, `set-cookie`, framing headers), or an invalid value, makes the response a 500.
 */
export const addHeader: Dep<(name: string, value: string) => void> = fromRequest(
  (request) => (name, value) => request.addHeader(name, value),
);

/** The options of a task for after the answer. */
export interface AfterOptions {
  /** Whether to run it although the answer is a refusal or a failure; it is dropped then unless set. */
  readonly always?: boolean;
}

/**
 * A function that runs work once the answer is on its way: a mail, a line for an audit, a cache to be filled. No answer waits for
 * it. It gets how the request ended. Its log lines have the request's id and trace; what it throws is an error line, and goes to
 * `onError`. It is dropped where the answer turns out to be a refusal or a failure, so that no mail is sent about an order that was
 * not placed. A server that stops waits for it, at most `drainMs`; a Worker runs until it has ended. It is lost where the process is
 * killed: for what must happen, write a job to the database.
 *
 * @example
 * ```ts
 * const order = post(orders, { inputs: { after, body: json(Order) }, returns: Returns.text }, ({ after, body }) => {
 *   after(() => sendMail(body.email));
 *   return "placed";
 * });
 * ```
 */
export const after: Dep<(task: (end: RequestEnd) => unknown, options?: AfterOptions) => void> = fromRequest(
  (request) => {
    const tasks = request.later();
    return (task, options = {}) => {
      needsFunction("after: its task", task);
      needsOptions("after", options, "always");
      tasks.add(task, options.always === true);
    };
  },
);

/**
 * A function by which an input of your own says how long what it checked is valid. An event stream or a WebSocket of the request ends
 * then: the stream as though its producer had returned, the socket with 1008, and `clientGone` aborts. Sessions, API keys and JWTs say
 * it themselves. A request that runs, and a body that is being sent, are not ended.
 *
 * @example
 * ```ts
 * const account = Dep.join({ token, validWhile }, async ({ token, validWhile }) => {
 *   const found = await links.find(token);
 *   if (found === undefined) return refuse(signedOut, "Please sign in.");
 *   validWhile({ until: found.expiresAt, check: async () => (await links.find(token)) !== undefined });
 *   return found.account;
 * }, { refuses: [signedOut] });
 * ```
 */
export const validWhile: Dep<(validity: Validity) => void> = fromRequest(
  (request) => (validity) => holdWhile(request, checkedValidity(validity)),
);

/**
 * Aborts when the client disconnects. A handler need not catch the rejection of a call that got it: the access line has a 499, and
 * no error is logged.
 */
export const clientGone: Dep<AbortSignal> = fromRequest((request) => inRequestContext(request.gone));

/**
 * Aborts with a `TimeoutError` once the deadline of the request has passed (`deadline` of the app, `Meta.deadline` of the
 * route): pass it to what the handler waits for. It never aborts where there is no deadline, nor once the request is answered.
 * Calls of `HttpClient` and `Client`, and statements of a `Pool`, end by it without being given it.
 *
 * @example
 * ```ts
 * const page = get(path, { inputs: { deadline }, returns: Returns.text }, async ({ deadline }) => {
 *   return (await fetch("https://stock.example/", { signal: deadline })).text();
 * });
 * ```
 */
export const deadline: Dep<AbortSignal> = fromRequest(
  (request) => request.deadlineSignal ?? new AbortController().signal,
);

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
function fromRequest<A>(read: (request: InputRequest) => A): Dep<A> {
  return { node: { from: [], compile: () => read } };
}

/** The whole request. Opaque to the API document. */
export const request: Dep<RequestRecord> = { node: { from: [], opaque: true, compile: () => recordOf } };

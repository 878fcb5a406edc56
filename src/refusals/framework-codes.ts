import { code } from "./code.ts";
import type { Code } from "./code.ts";

/** An input is not what the route reads: 400, with every problem. */
export const invalid: Code<"invalid"> = code("invalid", {
  status: 400,
  doc: "Inputs are not what the route reads; each problem says where.",
});
/** The body was cut short, malformed, or too slow: 400. */
export const unreadable: Code<"unreadable"> = code("unreadable", {
  status: 400,
  doc: "The body could not be read as sent: cut short, malformed, or too slow to arrive.",
});
/** The body is longer than the server or the route takes: 413. */
export const tooLarge: Code<"too_large"> = code("too_large", {
  status: 413,
  doc: "The body is longer than the server takes.",
});
/** Another site sent a request that changes something: 403. */
export const crossOrigin: Code<"cross_origin"> = code("cross_origin", {
  status: 403,
  doc: "A browser sent a request that changes something from another site.",
});
/** A WebSocket's address asked for without an upgrade: 426. */
export const upgradeRequired: Code<"upgrade_required"> = code("upgrade_required", {
  status: 426,
  doc: "The address is a WebSocket, answered only to a request that opens one; Upgrade says which.",
});
/** Something the request needed did not come free in time: 503, with `Retry-After`. */
export const busy: Code<"busy"> = code("busy", {
  status: 503,
  doc: "Something the request needed did not come free in time; try again.",
});
/** The server's fault: 500. */
export const internal: Code<"internal"> = code("internal", { status: 500, doc: "The server's fault." });
/** A readiness check failed: 503. */
export const notReady: Code<"not_ready"> = code("not_ready", {
  status: 503,
  doc: "Something the server needs to serve did not answer.",
});
/** The body's `Content-Type` is none the route reads: 415. */
export const unsupportedMediaType: Code<"unsupported_media_type"> = code("unsupported_media_type", {
  status: 415,
  doc: "The body is sent as something the route does not read.",
});
/** Nothing is at this address: 404. */
export const notFound: Code<"not_found"> = code("not_found", { status: 404, doc: "Nothing is here." });
/** The path is answered, but not by this method: 405, with `Allow`. */
export const methodNotAllowed: Code<"method_not_allowed"> = code("method_not_allowed", {
  status: 405,
  doc: "The path is answered, but not by this method; Allow lists those.",
});
/** The method is known neither to the framework nor to a route: 501. */
export const notImplemented: Code<"not_implemented"> = code("not_implemented", {
  status: 501,
  doc: "The method is not one this server implements.",
});

/** The caller asked more often than a `Rate.limit` lets it: 429, with `Retry-After`. */
export const rateLimited: Code<"rate_limited"> = code("rate_limited", {
  status: 429,
  doc: "The caller asked more often than the route allows; Retry-After says when to ask again.",
});

/** The codes any route may answer with undeclared. */
export const frameworkCodes: readonly Code[] = [
  notFound,
  methodNotAllowed,
  unreadable,
  invalid,
  tooLarge,
  busy,
  crossOrigin,
  notImplemented,
  upgradeRequired,
  internal,
];

/** What a client is told when nobody gave a sentence, by code. */
export const sentences: ReadonlyMap<string, string> = new Map([
  ["not_found", "There is nothing here."],
  ["method_not_allowed", "That is not something you can do here."],
  ["unreadable", "That request could not be read."],
  ["invalid", "Some of that request is not what it should be."],
  ["too_large", "That request is too large."],
  ["busy", "The server is busy. Please try again in a moment."],
  ["cross_origin", "That request came from another site, so it was not carried out."],
  ["not_implemented", "That is not something this server does."],
  ["upgrade_required", "This address opens a WebSocket, and nothing else."],
  ["internal", "Something went wrong at our end. Please try again."],
  ["rate_limited", "That was asked too often. Please try again in a moment."],
  ["unsupported_media_type", "That request's body is not in a form this can read."],
]);

/** Codes that a handler or an input may refuse with undeclared. */
export type FrameworkCode = "invalid" | "unreadable" | "too_large" | "busy" | "internal";

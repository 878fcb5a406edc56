/** Expected answers of cases, in a word each. */
import { busy, internal, invalid, notFound, tooLarge, unreadable, unsupported } from "../support/refusals.ts";
import type { Expected, Lines } from "./case.ts";

/** Members of any of them. */
type More = Partial<Pick<Expected, "framing" | "after" | "phrase" | "names">> & {
  readonly status?: number;
  /** In addition to the type. */
  readonly headers?: Lines;
};

export const text = (body: string, more?: More): Expected => typed("text/plain; charset=utf-8", body, more);
export const html = (body: string, more?: More): Expected => typed("text/html; charset=utf-8", body, more);
export const json = (body: string, more?: More): Expected => typed("application/json", body, more);

export function typed(type: string, body: string, { status = 200, headers = [], ...more }: More = {}): Expected {
  return { status, headers: [["content-type", type], ...headers], body, framing: "length", after: "kept", ...more };
}

/** Chunked, as it has no length. */
export function streamed(type: string, body: string, more: More = {}): Expected {
  return typed(type, body, { framing: "chunked", ...more });
}

/** No body and no type: a length of 0, except for a 204 and a 304, which have no length. */
export function empty(status = 204, headers: Lines = [], more: More = {}): Expected {
  const framing = status === 204 || status === 304 ? "none" : "length";
  return { status, headers, body: "", framing, after: "kept", ...more };
}

export function refused(status: number, error: string, message: string, more: More = {}): Expected {
  return json(JSON.stringify({ error, message }), { ...more, status });
}

export const missing: Expected = json(notFound, { status: 404 });
export const failed: Expected = json(internal, { status: 500 });
export const unsupportedType: Expected = json(unsupported, { status: 415 });
export const broken: Expected = json(unreadable, { status: 400 });

export function tooLong(more: More = {}): Expected {
  return json(tooLarge, { ...more, status: 413 });
}

/** The body does not fit the budget: Retry-After, and closed, as the rest of the body is not read. */
export const crowded: Expected = json(busy, { status: 503, headers: [["retry-after", "1"]], after: "closed" });

export function notAllowed(allow: string, more: More = {}): Expected {
  const headers = [["allow", allow] as const];
  return refused(405, "method_not_allowed", "That is not something you can do here.", { ...more, headers });
}

export const notImplemented: Expected = refused(501, "not_implemented", "That is not something this server does.");

/** The one 400 with every problem: place, code, and message. */
export function problems(...told: readonly (readonly [at: string, code: string, message: string])[]): Expected {
  return json(invalid(...told), { status: 400 });
}

/** One value that does not parse. */
export const malformed = (at: string, message: string): Expected => problems([at, "malformed", message]);

/** An invalid head: answered by the listener with any body, and closed. */
export function bare(status: number): Expected {
  return { status, headers: [], body: "", framing: "none", after: "closed", bare: true };
}

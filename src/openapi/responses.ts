import type { Schema } from "./schemas/schema.ts";

/** Answers by their status. */
export interface Responses {
  [status: string]: {
    readonly description: string;
    readonly headers?: HeaderDocs;
    readonly content?: object;
    readonly [extension: `x-${string}`]: unknown;
  };
}

/** The headers of an answer that say something of it, by name. */
export interface HeaderDocs {
  readonly [name: string]: { readonly description: string; readonly required?: true; readonly schema: Schema };
}

type Response = Responses[string];

/** `WWW-Authenticate` (RFC 9110 §11.6.1). */
export function howToProve(challenges: readonly string[], always: boolean): HeaderDocs {
  const schema = { type: "string", enum: [...new Set(challenges)] };
  return { "WWW-Authenticate": { description: "How to prove who asks.", ...required(always), schema } };
}

/** `Retry-After` in seconds, as `busy` and `rate_limited` have it; other codes of their status have none. */
export const comeAgain: HeaderDocs = {
  "Retry-After": { description: "After how many seconds to ask again.", schema: { type: "integer", minimum: 0 } },
};

/** `Upgrade` of an address that is a WebSocket. */
export function whatToSpeak(always: boolean): HeaderDocs {
  return {
    Upgrade: { description: "What to speak.", ...required(always), schema: { type: "string", enum: ["websocket"] } },
  };
}

const whereTo: HeaderDocs = {
  Location: { description: "Where to.", schema: { type: "string", format: "uri-reference" } },
};

const redirects: ReadonlySet<number> = /* @__PURE__ */ new Set([301, 302, 303, 307, 308]);

/** Where a redirect leads (RFC 9110 §15.4). */
export function leadingSomewhere(status: number): HeaderDocs {
  return redirects.has(status) ? whereTo : {};
}

/** An answer that has these headers too. */
export function withHeaders({ description, headers, ...others }: Response, more: HeaderDocs): Response {
  const all = { ...headers, ...more };
  return { description, ...(Object.keys(all).length === 0 ? {} : { headers: all }), ...others };
}

function required(always: boolean): { readonly required?: true } {
  return always ? { required: true } : {};
}

import type { Answer } from "../../src/doors/answers.ts";
import { redirect } from "../../src/doors/answers.ts";
import type { SetCookie, Codec } from "../../src/doors/codecs.ts";
import { custom } from "../../src/doors/codecs.ts";
import { error, ok } from "../../src/doors/base.ts";

/** It is in the cookie of an attempt, and proxies take 8 kB of cookies. */
const maxLength = 512;

/**
 * Whether a text is a path of this site, with a query or without. Browsers read `//host` and `/\host` as another site, drop tabs
 * and line ends before they read, and take a backslash for a slash. So none of these is allowed anywhere.
 */
export function isOwnPath(text: unknown): text is string {
  if (typeof text !== "string" || text.length > maxLength) return false;
  return /^\/(?!\/)[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e%]*$/.test(text);
}

/** Reads the address to which a browser returns. */
export const returnAddress: Codec<string> = /* @__PURE__ */ custom({
  kind: "path",
  parse: (text) => (isOwnPath(text) ? ok(text) : error("This must be a path of this site, like /orders.")),
  print: (value: string) => value,
});

/** Sends the browser on. A cache must not keep what is for one browser, nor may the next page learn the address with the code. */
export function goTo(location: string, cookies: readonly SetCookie[] = []): Answer {
  const headers = [
    ["cache-control", "no-store"],
    ["referrer-policy", "no-referrer"],
  ] as const;
  return redirect(location, { status: 303, headers, cookies });
}

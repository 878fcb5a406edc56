/** What tokens and API keys share: the codes of one that is missing, wrong, or not enough, and the names of their schemes. */
import type { AnyDep } from "../inputs/dep.ts";
import { Refusal } from "../refusals.ts";
import type { Code } from "../refusals.ts";

/** The credential is missing, wrong or too old: 401. */
export const signedOut: Code<"signed_out"> = /* @__PURE__ */ Refusal.code("signed_out", {
  status: 401,
  doc: "The credential is missing, wrong or too old.",
  challenge: "Bearer",
});

/** The credential is right, and does not allow this: 403. */
export const notAllowed: Code<"not_allowed"> = /* @__PURE__ */ Refusal.code("not_allowed", {
  status: 403,
  doc: "The credential does not allow this.",
});

/** The name of a scheme in the API document: what is read of two headers has two. OpenAPI allows letters, digits, `.`, `_` and `-`. */
export function schemeNameOf(kind: string, read: string): string {
  return `${kind}-${read.toLowerCase().replaceAll(/[^a-z0-9._-]/g, (sign) => `_${sign.charCodeAt(0).toString(16)}`)}`;
}

/** What an input reads first, by its name; `"text"` where it does not say so. */
export function firstReadOf({ node }: AnyDep): string {
  const needs = [...(node.need === undefined ? [] : [node.need]), ...(node.needs ?? [])];
  for (const need of needs) if ("name" in need) return need.name;
  const names = node.from.map(firstReadOf);
  return names.find((name) => name !== "text") ?? "text";
}

export const pleaseSignIn = "Please sign in.";
export const mayNot = "You may not do that.";

/** A quoted value of a challenge (RFC 9110 §5.6.4), or undefined where it needs an escape, which clients read differently. */
export function isQuotable(text: unknown): text is string {
  return typeof text === "string" && /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(text);
}

/** Whether a text is one scope (RFC 6749 §3.3). */
export function isScope(text: unknown): text is string {
  return typeof text === "string" && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text);
}

/** A challenge of `WWW-Authenticate`: a scheme and its parameters, each of which {@link isQuotable} allows. */
export function challengeOf(scheme: string, parameters: { readonly [name: string]: string | undefined }): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const written = given.map(([name, value]) => `${name}="${value}"`).join(", ");
  return written === "" ? scheme : `${scheme} ${written}`;
}

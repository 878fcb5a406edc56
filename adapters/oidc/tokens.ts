import * as v from "valibot";
import { isObject } from "../../src/arguments.ts";
import { instant } from "../../src/doors/schema.ts";
import type { Shape } from "../../src/doors/schema.ts";

/** What an issuer gave at a sign-in, or at the last refresh. */
export interface OidcTokens {
  /** The issuer's identifier. */
  readonly issuer: string;
  /** Who signed in: unique at the issuer, and never given to another user. */
  readonly subject: string;
  /** The ID token as it was sent; the sign-out hands it back to the issuer. */
  readonly idToken: string;
  /** For calls to an API in the name of the user. */
  readonly accessToken: string;
  /** When the access token expires; without it, the issuer does not tell. */
  readonly expiresAt?: Date | undefined;
  /** Gets a newer access token, where the issuer gave one. */
  readonly refreshToken?: string | undefined;
  /** The scopes that the issuer granted, where they are not the ones that were requested. */
  readonly scope?: string | undefined;
}

/** As a session's store has them. */
type StoredTokens = Omit<OidcTokens, "expiresAt"> & { readonly expiresAt?: string | undefined };

/**
 * The shape of a session's member `tokens`, for a program that calls an API in the name of the user, or that signs out at the
 * issuer without a question.
 *
 * @example
 * ```ts
 * const shape = v.object({ name: v.string(), tokens: Oidc.tokens });
 * ```
 */
export const tokens: Shape<OidcTokens, StoredTokens> = /* @__PURE__ */ v.object({
  issuer: /* @__PURE__ */ v.string(),
  subject: /* @__PURE__ */ v.string(),
  idToken: /* @__PURE__ */ v.string(),
  accessToken: /* @__PURE__ */ v.string(),
  expiresAt: /* @__PURE__ */ v.optional(instant),
  refreshToken: /* @__PURE__ */ v.optional(/* @__PURE__ */ v.string()),
  scope: /* @__PURE__ */ v.optional(/* @__PURE__ */ v.string()),
});

/** The member `tokens` of a session's data, which is of any shape. */
export function tokensIn(data: unknown): OidcTokens | undefined {
  const found = isObject(data) ? data["tokens"] : undefined;
  return isObject(found) && typeof found["issuer"] === "string" && typeof found["idToken"] === "string"
    ? (found as unknown as OidcTokens)
    : undefined;
}

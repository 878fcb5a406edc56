import { Refusal } from "../../src/refusals.ts";
import type { Code } from "../../src/refusals.ts";
import { isOAuthError } from "./oauth.ts";

/** The answer of the issuer is not one to the sign-in of this browser, or its ID token does not hold: 400. */
export const signInFailed: Code<"sign_in_failed"> = /* @__PURE__ */ Refusal.code("sign_in_failed", {
  status: 400,
  doc: "The answer of the issuer does not belong to a sign-in of this browser, or it does not hold.",
});
/** The user cancelled, or the issuer does not allow it: 403. */
export const signInRefused: Code<"sign_in_refused"> = /* @__PURE__ */ Refusal.code("sign_in_refused", {
  status: 403,
  doc: "The user cancelled the sign-in, or the issuer does not allow it.",
});
/** The issuer cannot be reached, or answers nonsense: 503. */
export const signInUnavailable: Code<"sign_in_unavailable"> = /* @__PURE__ */ Refusal.code("sign_in_unavailable", {
  status: 503,
  doc: "The issuer of the sign-in does not answer, or not as it should.",
});

/** The issuer could not be asked. The message is in our words, for the log. */
export class IssuerAway extends Error {
  override readonly name = "IssuerAway";
  /** After how long it may be asked again, in milliseconds. */
  readonly againMs: number;

  constructor(message: string, againMs = 5000) {
    super(message);
    this.againMs = againMs;
  }
}

/** The issuer sent a URL, a key or a signature that cannot be parsed. */
class UnreadableAnswer extends Error {
  override readonly name = "UnreadableAnswer";
}

/**
 * Reads what the issuer sent. The package throws an error of its own for most nonsense, and one of the platform for a URL, a key or a
 * base64 text that cannot be parsed.
 */
export async function reading<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (thrown) {
    const isTold =
      thrown instanceof IssuerAway ||
      isOAuthError("OperationProcessingError", thrown) ||
      isOAuthError("UnsupportedOperationError", thrown);
    throw isTold ? thrown : new UnreadableAnswer();
  }
}

export function failed(detail: string): Refusal<"sign_in_failed"> {
  return new Refusal(signInFailed, "That sign-in did not work. Please start it again.", { detail });
}

export function refused(detail: string): Refusal<"sign_in_refused"> {
  return new Refusal(signInRefused, "That sign-in was cancelled, or is not allowed.", { detail });
}

/** @param againMs After how long the client may ask again, for `Retry-After`. */
export function unavailable(detail: string, againMs = 5000): Refusal<"sign_in_unavailable"> {
  const headers = [["retry-after", String(Math.ceil(againMs / 1000))]] as const;
  return new Refusal(signInUnavailable, "Signing in is not possible now. Please try again in a moment.", {
    detail,
    headers,
  });
}

/** The errors that an authorization response may have (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6). */
const saysNo = new Set([
  "access_denied",
  "account_selection_required",
  "consent_required",
  "interaction_required",
  "login_required",
  "unmet_authentication_requirements",
]);
const isBroken = new Set(["server_error", "temporarily_unavailable"]);
const isOurs = new Set([
  "invalid_request",
  "invalid_request_object",
  "invalid_request_uri",
  "invalid_scope",
  "invalid_target",
  "registration_not_supported",
  "request_not_supported",
  "request_uri_not_supported",
  "unauthorized_client",
  "unsupported_response_type",
]);
/** The errors of a token endpoint (RFC 6749 §5.2). */
const ofTokens = new Set([
  "invalid_client",
  "invalid_dpop_proof",
  "invalid_request",
  "invalid_scope",
  "invalid_target",
  "unauthorized_client",
  "unsupported_grant_type",
]);

/** By the code of an error of the package: whether the issuer answers nonsense, and the detail for the log. */
const problems: { readonly [code: string]: readonly [unavailable: boolean, detail: string] } = {
  OAUTH_HTTP_REQUEST_FORBIDDEN: [true, "an endpoint of the issuer is not https"],
  OAUTH_INVALID_RESPONSE: [false, "the answer of the issuer lacks what it needs, or its signature is wrong"],
  OAUTH_INVALID_SERVER_METADATA: [true, "the issuer describes itself wrongly"],
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: [false, "a member of the issuer's answer has another value than it must"],
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: [false, "a claim of the ID token has another value than it must"],
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: [false, "the ID token has expired, is not valid yet, or its sign-in is too old"],
  OAUTH_KEY_SELECTION_FAILED: [false, "the issuer has no key for the ID token"],
  OAUTH_MISSING_SERVER_METADATA: [true, "the issuer does not name an endpoint"],
  OAUTH_PARSE_ERROR: [true, "the answer of the issuer could not be read: no JSON, too long or cut short"],
  OAUTH_REQUEST_PROTOCOL_FORBIDDEN: [true, "an endpoint of the issuer is not https"],
  OAUTH_RESPONSE_IS_NOT_CONFORM: [true, "the issuer answered with another status than it must"],
  OAUTH_RESPONSE_IS_NOT_JSON: [true, "the answer of the issuer is not JSON"],
};

/**
 * The refusal for what the package threw. Nothing of the issuer's text is in it. Throws what is no failure of a sign-in.
 *
 * @param restMs How long the issuer rests, by its `Retry-After` or its failures; 0 where it does not.
 */
export function refusalOf(
  thrown: unknown,
  restMs = 0,
): Refusal<"sign_in_failed" | "sign_in_refused" | "sign_in_unavailable"> {
  if (thrown instanceof IssuerAway) return unavailable(thrown.message, thrown.againMs);
  if (isOAuthError("AuthorizationResponseError", thrown)) return refusalOfAnswer(thrown.error);
  const againMs = restMs || undefined;
  if (isOAuthError("ResponseBodyError", thrown)) return refusalOfToken(thrown.error, againMs);
  if (isOAuthError("WWWAuthenticateChallengeError", thrown))
    return unavailable("the issuer does not accept this client", againMs);
  if (thrown instanceof UnreadableAnswer) return failed("a URL, a key or a signature of the issuer cannot be parsed");
  if (isOAuthError("UnsupportedOperationError", thrown))
    return failed("the ID token is signed or sent in a way that is not accepted");
  if (!isOAuthError("OperationProcessingError", thrown)) throw thrown;
  const known = problems[thrown.code ?? ""];
  if (known === undefined) return failed("the answer of the issuer does not hold");
  const [isAway, detail] = known;
  return isAway ? unavailable(detail, againMs) : failed(detail);
}

/** Whether the key of a token is not among the issuer's. */
export function lacksKey(thrown: unknown): boolean {
  return isOAuthError("OperationProcessingError", thrown) && thrown.code === "OAUTH_KEY_SELECTION_FAILED";
}

/** Whether the issuer's keys cannot be had. */
export function areKeysAway(thrown: unknown): boolean {
  if (thrown instanceof IssuerAway) return true;
  return isOAuthError("OperationProcessingError", thrown) && problems[thrown.code ?? ""]?.[0] === true;
}

/** Whether the issuer does not know this application by its secret (RFC 6749 §5.2). */
export function isUnknownClient(thrown: unknown): boolean {
  if (isOAuthError("ResponseBodyError", thrown)) return thrown.error === "invalid_client";
  return isOAuthError("WWWAuthenticateChallengeError", thrown) && thrown.status === 401;
}

/** Whether the issuer takes this refresh token, or this code, no more. */
export function isRefusedGrant(thrown: unknown): boolean {
  return isOAuthError("ResponseBodyError", thrown) && thrown.error === "invalid_grant";
}

function refusalOfAnswer(error: string): Refusal<"sign_in_failed" | "sign_in_refused" | "sign_in_unavailable"> {
  if (saysNo.has(error)) return refused(`the issuer answered ${error}`);
  if (isBroken.has(error)) return unavailable(`the issuer answered ${error}`);
  return failed(isOurs.has(error) ? `the issuer answered ${error}` : "the issuer answered an error of its own");
}

function refusalOfToken(error: string, againMs: number | undefined): Refusal<"sign_in_failed" | "sign_in_unavailable"> {
  if (error === "invalid_grant") return failed("the issuer does not accept the code: invalid_grant");
  return unavailable(`the issuer refused the token: ${ofTokens.has(error) ? error : "an error of its own"}`, againMs);
}

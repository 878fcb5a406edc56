/** Ports of the stores of keys, rates and sessions, and what credentials are refused with. */
export type { ApiKeyEntry, ApiKeyStore } from "../security/api-key-store.ts";
export {
  challengeOf,
  firstReadOf,
  isQuotable,
  isScope,
  mayNot,
  notAllowed,
  pleaseSignIn,
  schemeNameOf,
  signedOut,
} from "../security/credential-codes.ts";
export { LostClaims, NotClaimed } from "../security/idempotency-store.ts";
export type {
  IdempotencyAnswer,
  IdempotencyClaim,
  IdempotencyEntry,
  IdempotencyStore,
} from "../security/idempotency-store.ts";
export { ringOf } from "../security/key-ring.ts";
export type { Keys } from "../security/keys.ts";
export { memory, waitOf } from "../security/rate-store.ts";
export type { RateRule, RateStore } from "../security/rate-store.ts";
export { encrypted, isSameSecret } from "../security/sealing.ts";
export { amend } from "../security/session-store.ts";
export type { SessionEntry, SessionStore } from "../security/session-store.ts";
export type { Session, Sessions, SessionsInStore } from "../security/sessions.ts";

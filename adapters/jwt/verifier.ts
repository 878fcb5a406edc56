import type { CryptoKey, JWTPayload, JWTVerifyOptions, errors } from "jose";
import type { InputRequest } from "../../src/doors/inputs.ts";
import type { JsonReader } from "../../src/doors/schema.ts";
import { josePackage } from "./jose.ts";
import type { Jose } from "./jose.ts";
import { NoKeysError } from "./jwks.ts";
import type { JwtAlgorithm, KeyHeader, KeySource } from "./keys.ts";

/** The claims of RFC 7519 and all others of a token, without a shape of the application's. */
export interface JwtClaims {
  /** Who issued it. */
  readonly iss: string;
  /** Whom it is for. It may be missing only with the option `audienceClaim`. */
  readonly aud?: string | readonly string[];
  /** When it expires, in seconds since 1970. */
  readonly exp: number;
  /** Whom it is about. */
  readonly sub?: string;
  /** The time before which it is not valid, in seconds since 1970. */
  readonly nbf?: number;
  /** When it was issued, in seconds since 1970. */
  readonly iat?: number;
  /** Its id. */
  readonly jti?: string;
  /** What it allows, with spaces between. */
  readonly scope?: string;
  readonly [claim: string]: unknown;
}

/** What a verifier requires of a token. */
export interface Rules {
  readonly algorithms: readonly JwtAlgorithm[];
  readonly maxLength: number;
  /** The claim that names whom the token is for, and the names that are this service's. */
  readonly audience: { readonly claim: string; readonly names: readonly string[] };
  readonly options: JWTVerifyOptions;
  readonly reader: JsonReader<unknown> | undefined;
}

/** A token whose signature and claims are right. */
export interface Verified {
  readonly claims: unknown;
  readonly payload: JWTPayload;
}

/** Why a token is refused, for the log: no word of it is the token's. */
export type Reason = string;

const noJwt: Reason = "it is no JWT";

/**
 * Whether the base64url of each part has neither padding nor unused bits that are set (RFC 7515 §5.2, RFC 4648 §3.5). `jose`
 * reads both, so a token would have several texts, and a list of revoked tokens has one of them.
 */
function isOnlyText(token: string): boolean {
  return token.split(".").every((part) => lastOf[part.length % 4]?.test(part.slice(-1)));
}

/** The last character of a part, by the number of characters in its last group. */
const lastOf = [/[\w-]/, undefined, /[AQgw]/, /[AEIMQUYcgkosw048]/] as const;

/** The heads of tokens that are remembered with their keys. One issuer's tokens have a few. */
const maxKnown = 64;

/** Verifies tokens with the keys of one source. */
export class TokenVerifier {
  readonly #source: KeySource;
  readonly #rules: Rules;
  /**
   * The keys of each first part of a token, once one with it was verified. Such a token needs no search and no import, and no
   * promise but that of its signature.
   */
  readonly #known = new Map<string, readonly CryptoKey[]>();
  #version = 0;

  constructor(source: KeySource, rules: Rules) {
    this.#source = source;
    this.#rules = rules;
  }

  /** What the token says, or why it is refused. @throws NoKeysError where there are no keys to verify it with. */
  async verify(token: string, request: InputRequest): Promise<Verified | Reason> {
    if (token.length > this.#rules.maxLength) return "the token is longer than maxLength";
    const jose = josePackage.loaded ?? (await josePackage.load("Jwt.bearer"));
    this.#source.keepFresh(request);
    if (this.#version !== this.#source.version) {
      this.#version = this.#source.version;
      this.#known.clear();
    }
    const head = token.slice(0, token.indexOf(".") + 1);
    const known = this.#known.get(head);
    if (known !== undefined) return this.#verifiedBy(jose, known, token, request.now);
    const header = this.#headerOf(jose, token);
    if (typeof header === "string") return header;
    const keys = await this.#source.find(header, request.now, jose);
    return keys.length === 0 ? "no key is for its kid and alg" : this.#verifiedBy(jose, keys, token, request.now);
  }

  /** Only `alg` and `kid` of the head are ever used: `jku`, `jwk`, `x5u` and `x5c` are the token's own say (RFC 8725 §3.10). */
  #headerOf({ decodeProtectedHeader }: Jose, token: string): KeyHeader | Reason {
    let header;
    try {
      header = decodeProtectedHeader(token);
    } catch {
      return noJwt;
    }
    const { alg, kid } = header;
    const named = this.#rules.algorithms.find((algorithm) => algorithm === alg);
    if (named === undefined) return "its alg is none of the algorithms";
    if (kid !== undefined && typeof kid !== "string") return "its kid is no text";
    return { alg: named, kid };
  }

  /** The key that is right is tried first for the next token: without a `kid`, it may be the last of many. */
  #remember(head: string, right: CryptoKey, keys: readonly CryptoKey[]): void {
    if (this.#known.get(head)?.[0] === right) return;
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.set(head, [right, ...keys.filter((key) => key !== right)]);
  }

  async #verifiedBy(
    { errors, jwtVerify }: Jose,
    keys: readonly CryptoKey[],
    token: string,
    now: Date,
  ): Promise<Verified | Reason> {
    const options: JWTVerifyOptions = { ...this.#rules.options, currentDate: now };
    const { version } = this.#source;
    for (const key of keys) {
      try {
        const { payload } = await jwtVerify(token, key, options);
        // Keys that were replaced meanwhile may be withdrawn.
        if (version === this.#source.version) this.#remember(token.slice(0, token.indexOf(".") + 1), key, keys);
        return isOnlyText(token) ? this.#read(payload) : noJwt;
      } catch (error) {
        if (error instanceof errors.JWSSignatureVerificationFailed) continue;
        if (error instanceof errors.JOSEError) return reasonOf(errors, error);
        throw error;
      }
    }
    return "none of the keys signed it";
  }

  #read(payload: JWTPayload): Verified | Reason {
    const wrong = wrongClaim(payload);
    if (wrong !== undefined) return `its claim ${wrong} is of another type`;
    const other = wrongAudience(payload, this.#rules.audience);
    if (other !== undefined) return other;
    const { reader } = this.#rules;
    if (reader === undefined) return { claims: payload, payload };
    // The reader makes parts of what it reads its own, and the scope is read of the payload later: it changes neither.
    const read = reader.readValue(payload, "claims");
    if (read.ok) return { claims: read.value, payload };
    const [first] = read.error;
    return `its claims are not of the shape: ${first?.code}`;
  }
}

/** A claim of RFC 7519 §4.1 that `jose` lets pass although its type is wrong: `1e999` is a number without an end. */
function wrongClaim({ exp, nbf, iat, sub, jti, aud }: JWTPayload): string | undefined {
  if (!Number.isFinite(exp)) return "exp";
  if (nbf !== undefined && !Number.isFinite(nbf)) return "nbf";
  if (iat !== undefined && !Number.isFinite(iat)) return "iat";
  if (sub !== undefined && typeof sub !== "string") return "sub";
  if (jti !== undefined && typeof jti !== "string") return "jti";
  return Array.isArray(aud) && !aud.every((one) => typeof one === "string") ? "aud" : undefined;
}

/** Why a token is not for this service (RFC 7519 §4.1.3), by the claim that its issuer has for it. */
function wrongAudience(payload: JWTPayload, { claim, names }: Rules["audience"]): Reason | undefined {
  const given = payload[claim];
  if (given === undefined) return `it has no ${claim}`;
  const all: readonly unknown[] = Array.isArray(given) ? given : [given];
  return all.some((one) => typeof one === "string" && names.includes(one)) ? undefined : `its ${claim} is another`;
}

/** What `jose` found, in words that quote nothing: its own messages may. */
function reasonOf({ JWTClaimValidationFailed, JWTExpired }: Jose["errors"], error: errors.JOSEError): Reason {
  if (error instanceof JWTExpired) return error.claim === "iat" ? "it is older than maxAgeMs" : "it has expired";
  if (!(error instanceof JWTClaimValidationFailed)) return reasons.get(error.code) ?? noJwt;
  const { claim, reason } = error;
  if (!checkedClaims.has(claim)) return "one of its claims is wrong";
  if (reason === "missing") return `it has no ${claim}`;
  if (reason === "invalid") return `its claim ${claim} is of another type`;
  return claim === "nbf" ? "it is not valid yet" : `its ${claim} is another`;
}

const checkedClaims = new Set(["exp", "iat", "iss", "nbf", "sub", "typ"]);
const reasons = new Map([
  ["ERR_JOSE_ALG_NOT_ALLOWED", "its alg is none of the algorithms"],
  ["ERR_JOSE_NOT_SUPPORTED", "its head requires what is not supported"],
]);

export { NoKeysError };

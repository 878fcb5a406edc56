import type { CryptoKey, JSONWebKeySet, LocalJWKSet } from "jose";
import { isListOf, isObject, needs } from "../../src/arguments.ts";
import { encodeBase64, losslessBytes } from "../../src/doors/http.ts";
import type { InputRequest } from "../../src/doors/inputs.ts";
import { josePem } from "./jose.ts";
import type { Jose, JosePem } from "./jose.ts";

/** The algorithms of RFC 7518 and RFC 8037 that a token may be signed by; there is no `none`. */
export type JwtAlgorithm =
  | "ES256"
  | "ES384"
  | "ES512"
  | "EdDSA"
  | "Ed25519"
  | "HS256"
  | "HS384"
  | "HS512"
  | "PS256"
  | "PS384"
  | "PS512"
  | "RS256"
  | "RS384"
  | "RS512";

/** The keys that verify tokens, made by `Jwt.jwks`, `Jwt.publicKeys` or `Jwt.secrets`. */
export interface JwtKeys {
  /** Whose: an issuer's at its URL, given ones, or secrets that both sides have. */
  readonly kind: "jwks" | "public" | "secret";
}

/** What the head of a token says of its key. */
export interface KeyHeader {
  readonly alg: JwtAlgorithm;
  readonly kid: string | undefined;
}

/** The inside of {@link JwtKeys}. */
export abstract class KeySource implements JwtKeys {
  abstract readonly kind: JwtKeys["kind"];
  /** Changes whenever the keys do. */
  version = 0;
  /** The keys that may have signed a token with this head; the likeliest first. */
  abstract find(header: KeyHeader, now: Date, jose: Jose): Promise<readonly CryptoKey[]>;
  /** Throws where the keys cannot be for these algorithms. `at` names the caller. */
  abstract check(algorithms: readonly JwtAlgorithm[], at: string): void;
  /** Called before the keys are asked for, and before those that were found earlier are used again. */
  keepFresh(_request: InputRequest): void {}
}

/** The inside of the keys; throws for anything else. */
export function sourceOf(keys: unknown, at: string): KeySource {
  needs(keys instanceof KeySource, at, keys, "made by Jwt.jwks, Jwt.publicKeys or Jwt.secrets");
  return keys as KeySource;
}

/** Whether an algorithm's key is a secret of both sides. */
function isShared(algorithm: string): boolean {
  return algorithm.startsWith("HS");
}

/** RFC 7518 §3.2: the key has the size of the hash, or more. */
const secretBytesOf: { readonly [algorithm: string]: number } = { HS256: 32, HS384: 48, HS512: 64 };

/**
 * Secrets that the issuer of the tokens has too, the newest first, for `HS256`, `HS384` and `HS512`: a token that any of them
 * signed is right. `openssl rand -base64 32` prints one. To change the secret, put the new one first, and keep the old one after it
 * until the last token that it signed has expired.
 *
 * @param secrets Texts, of which the bytes in UTF-8 are the key, or bytes: 32 of them for `HS256`, 48 for `HS384`, 64 for `HS512`.
 * @throws TypeError for a secret that is too short; the error does not quote it.
 */
export function secrets(secrets: readonly (string | Uint8Array)[]): JwtKeys {
  const isList = Array.isArray(secrets) && secrets.length > 0;
  needs(isList, "Jwt.secrets: secrets", secrets, "a list of texts or bytes, one at least");
  return new Secrets(
    secrets.map((secret, i) => {
      const isGiven = typeof secret === "string" || secret instanceof Uint8Array;
      needs(isGiven, `Jwt.secrets: secrets[${i}]`, secret, "a text or bytes");
      const bytes = typeof secret === "string" ? losslessBytes(secret) : new Uint8Array(secret);
      if (bytes.byteLength < 32) throw new TypeError(`Jwt.secrets: secrets[${i}] is shorter than 32 bytes`);
      return bytes;
    }),
  );
}

class Secrets extends KeySource {
  readonly kind = "secret";
  readonly #secrets: readonly Uint8Array<ArrayBuffer>[];
  // Keys and not promises: on Workers a request may not await another request's promise.
  readonly #imported = new Map<string, readonly CryptoKey[]>();

  constructor(secrets: readonly Uint8Array<ArrayBuffer>[]) {
    super();
    this.#secrets = secrets;
  }

  check(algorithms: readonly JwtAlgorithm[], at: string): void {
    const other = algorithms.find((algorithm) => !isShared(algorithm));
    if (other !== undefined) throw new TypeError(`${at}: algorithms has ${other}, whose key is no secret`);
    for (const algorithm of algorithms) {
      const least = secretBytesOf[algorithm] ?? 0;
      const short = this.#secrets.findIndex(({ byteLength }) => byteLength < least);
      if (short !== -1) {
        throw new TypeError(
          `${at}: keys: secrets[${short}] is shorter than the ${least} bytes that ${algorithm} needs`,
        );
      }
    }
  }

  async find({ alg }: KeyHeader): Promise<readonly CryptoKey[]> {
    const known = this.#imported.get(alg);
    if (known !== undefined) return known;
    const algorithm = { name: "HMAC", hash: `SHA-${alg.slice(2)}` };
    const keys: CryptoKey[] = [];
    for (const secret of this.#secrets) {
      keys.push(await crypto.subtle.importKey("raw", secret, algorithm, false, ["verify"]));
    }
    this.#imported.set(alg, keys);
    return keys;
  }
}

/** The keys of a JSON Web Key Set. */
export class KeySet {
  readonly #keys: JSONWebKeySet["keys"];
  #local: LocalJWKSet | undefined = undefined;

  /** RFC 7517 §5: what cannot be a key is ignored, and so is all the others of the set could be confused with. */
  constructor(keys: readonly unknown[]) {
    const usable = keys.filter((key) => isObject(key) && !Array.isArray(key) && key["kty"] !== "oct");
    this.#keys = usable as JSONWebKeySet["keys"];
  }

  async find({ alg, kid }: KeyHeader, { createLocalJWKSet, errors }: Jose): Promise<readonly CryptoKey[]> {
    const found: CryptoKey[] = [];
    this.#local ??= createLocalJWKSet({ keys: this.#keys });
    try {
      const key = await this.#local(kid === undefined ? { alg } : { alg, kid });
      found.push(key);
    } catch (error) {
      // Two keys have one `kid`, or the token names none: each of them may be the right one, so a set has a limit.
      if (error instanceof errors.JWKSMultipleMatchingKeys) for await (const key of error) found.push(key);
      // Any other: it is missing, is not on its curve, has a private part, or is not a key.
    }
    return found.filter((key) => !isWeak(key));
  }
}

/** RFC 7518 §3.3 requires 2048 bits of an RSA key. */
function isWeak({ algorithm }: CryptoKey): boolean {
  const { modulusLength } = algorithm as { readonly modulusLength?: number };
  return modulusLength !== undefined && modulusLength < 2048;
}

/**
 * Public keys that are given: the text of a PEM file (`PUBLIC KEY`, `RSA PUBLIC KEY` or `CERTIFICATE`), or of a JSON Web Key or Key Set. Read the file
 * yourself, since not every runtime has one.
 *
 * @param texts One text for each file; a token that any of their keys signed is right.
 * @throws TypeError for a text that is no public key; the error does not quote it.
 * @example
 * ```ts
 * const keys = await Jwt.publicKeys([await readFile("issuer.pem", "utf8")]);
 * ```
 */
export async function publicKeys(texts: readonly string[]): Promise<JwtKeys> {
  const isList = Array.isArray(texts) && texts.length > 0;
  needs(isList, "Jwt.publicKeys: texts", texts, "a list of texts, one at least");
  const keys: unknown[] = [];
  const pem = await josePem.load("Jwt.publicKeys");
  for (const [i, text] of texts.entries()) {
    const at = `Jwt.publicKeys: texts[${i}]`;
    needs(typeof text === "string", at, text, "a text");
    keys.push(...(await keysIn(text, at, pem)));
  }
  return new PublicKeys(keys as { readonly [member: string]: unknown }[]);
}

/** The algorithms to import a key of PEM with, one for each kind of key. */
const kindsOfPem = ["RS256", "ES256", "ES384", "ES512", "EdDSA"] as const;

async function keysIn(text: string, at: string, pem: JosePem): Promise<readonly unknown[]> {
  // The engine's own error would quote the text.
  const wrong = new TypeError(`${at} is neither a PEM public key or certificate, nor a JSON Web Key or Key Set`);
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    throw new TypeError(`${at} is a private key: give its public key`);
  if (text.includes("-----BEGIN ")) {
    const jwk = await keyOfPem(text, pem);
    if (jwk === undefined) throw wrong;
    return checked([jwk], at);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw wrong;
  }
  if (!isObject(json)) throw wrong;
  const { keys } = json;
  if (isListOf(keys, isObject) && keys.length > 0) return checked(keys, at);
  if (typeof json["kty"] !== "string") throw wrong;
  return checked([json], at);
}

async function keyOfPem(text: string, { exportJWK, importSPKI, importX509 }: JosePem): Promise<unknown> {
  const read = text.includes("-----BEGIN CERTIFICATE-----") ? importX509 : importSPKI;
  const spki = spkiOf(text);
  for (const algorithm of kindsOfPem) {
    const key = await read(spki, algorithm, { extractable: true }).catch(() => undefined);
    if (key !== undefined) return exportJWK(key);
  }
  return undefined;
}

/** SEQUENCE { OBJECT IDENTIFIER rsaEncryption, NULL } */
const rsaEncryption = [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];

/** `RSA PUBLIC KEY` (PKCS #1, RFC 8017 §A.1.1) as `PUBLIC KEY` (RFC 5280 §4.1), which `jose` and Web Crypto read. Other PEM stays. */
function spkiOf(text: string): string {
  const base64 = /-----BEGIN RSA PUBLIC KEY-----([ \t\r\nA-Za-z0-9+/=]+)-----END/
    .exec(text)?.[1]
    ?.replace(/[ \t\r\n]/g, "");
  if (base64 === undefined || !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64))
    return text;
  const key = Array.from(atob(base64), (character) => character.charCodeAt(0));
  const spki = der(0x30, [...rsaEncryption, ...der(0x03, [0, ...key])]);
  return `-----BEGIN PUBLIC KEY-----\n${encodeBase64(Uint8Array.from(spki))}\n-----END PUBLIC KEY-----\n`;
}

/** One value with its tag and its length. Keys have fewer than 65,536 bytes. */
function der(tag: number, content: readonly number[]): readonly number[] {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return [tag, ...size, ...content];
}

function checked(
  keys: readonly { readonly [member: string]: unknown }[] | readonly unknown[],
  at: string,
): readonly unknown[] {
  for (const key of keys) {
    const { kty, d, n } = key as { readonly [member: string]: unknown };
    if (kty === "oct") throw new TypeError(`${at} has a secret: give it to Jwt.secrets`);
    if (d !== undefined) throw new TypeError(`${at} has a private key: give its public key`);
    // In base64url, 2048 bits are 342 characters.
    const isShort = kty === "RSA" && (typeof n !== "string" || n.length < 342);
    if (isShort) throw new TypeError(`${at} has an RSA key of fewer than 2048 bits`);
  }
  return keys;
}

class PublicKeys extends KeySource {
  readonly kind = "public";
  readonly #keys: readonly { readonly [member: string]: unknown }[];
  readonly #set: KeySet;
  readonly #nameless: KeySet;

  constructor(keys: readonly { readonly [member: string]: unknown }[]) {
    super();
    this.#keys = keys;
    this.#nameless = new KeySet(keys.filter(({ kid }) => kid === undefined));
    this.#set = new KeySet(keys);
  }

  check(algorithms: readonly JwtAlgorithm[], at: string): void {
    needsPublic(algorithms, at);
    for (const algorithm of algorithms) {
      if (!this.#keys.some((key) => isFor(key, algorithm))) {
        throw new TypeError(`${at}: algorithms has ${algorithm}, and none of the keys is for it`);
      }
    }
  }

  /** A key of a PEM file has no name: it may be the one that the token names. */
  async find(header: KeyHeader, _now: Date, jose: Jose): Promise<readonly CryptoKey[]> {
    const named = await this.#set.find(header, jose);
    return named.length > 0 ? named : this.#nameless.find({ alg: header.alg, kid: undefined }, jose);
  }
}

/** Refuses the algorithms whose key is a secret, where the keys are public: anyone could sign with them (RFC 8725 §3.1). */
export function needsPublic(algorithms: readonly JwtAlgorithm[], at: string): void {
  const shared = algorithms.find(isShared);
  if (shared !== undefined)
    throw new TypeError(`${at}: algorithms has ${shared}, whose key is a secret: public keys cannot be its`);
}

const curveOf: { readonly [algorithm: string]: string } = {
  ES256: "P-256",
  ES384: "P-384",
  ES512: "P-521",
  EdDSA: "Ed25519",
  Ed25519: "Ed25519",
};

function isFor({ kty, crv, alg }: { readonly [member: string]: unknown }, algorithm: JwtAlgorithm): boolean {
  if (alg !== undefined && alg !== algorithm) return false;
  const curve = curveOf[algorithm];
  return curve === undefined ? kty === "RSA" : crv === curve;
}

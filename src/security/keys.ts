import { decodeBase64url, encodeBase64url } from "../http/bytes.ts";
import { KeyRing, ringOf } from "./key-ring.ts";

/** A ring of secrets, made by {@link ring}: the newest signs and seals, and every one still verifies and opens. */
export interface Keys {
  /** How many secrets there are. */
  readonly size: number;
}

const leastBytes = 32;

/**
 * A ring of secrets, of at least 32 bytes each: `openssl rand -base64 32` prints one. To change the secret, put the new one
 * first and keep the old one behind it until all it signed is too old to matter. Keys are derived by HKDF with SHA-256
 * (RFC 5869), for each use one of its own.
 *
 * @throws Error for a shorter secret, without telling it.
 */
export function ring(newest: string, ...retired: readonly string[]): Keys {
  const keys = new KeyRing([newest, ...retired]);
  if (keys.shortest < leastBytes) {
    throw new Error("Keys.ring: a key's secret is at least 32 bytes, and this one is shorter");
  }
  return keys;
}

/** Signs a text for a token of the application's own, such as a link in a mail: HMAC-SHA-256, in base64url. */
export async function sign(keys: Keys, text: string): Promise<string> {
  return encodeBase64url(await ringOf(keys).sign("text signing", text));
}

/** Whether any key of the ring signed the text. It is compared in constant time. */
export async function verify(keys: Keys, text: string, signature: string): Promise<boolean> {
  const bytes = decodeBase64url(signature);
  return bytes !== undefined && ringOf(keys).verify("text signing", text, bytes);
}

/**
 * Seals a text so that nobody else can read or change it: AES-256-GCM, in base64url. It opens with the same context alone,
 * which says what it is for; two seals of one text differ. One secret seals 2³² texts, and then it is time for a new one.
 */
export async function seal(keys: Keys, text: string, context: string): Promise<string> {
  if (!text.isWellFormed()) throw new Error("Keys.seal: the text is not Unicode, which nothing can seal");
  return encodeBase64url(await ringOf(keys).seal("text sealing", text, context));
}

/** The text that was sealed with this context; undefined for anything else. */
export async function open(keys: Keys, sealed: string, context: string): Promise<string | undefined> {
  const bytes = decodeBase64url(sealed);
  return bytes === undefined ? undefined : ringOf(keys).open("text sealing", bytes, context);
}

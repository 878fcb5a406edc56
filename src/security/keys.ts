import { needsText, needsTexts } from "../arguments.ts";
import { decodeBase64url, encodeBase64url } from "../http/bytes.ts";
import { KeyRing, ringOf } from "./key-ring.ts";

/** A ring of secrets, made by `Keys.ring`: the newest signs and seals, and every secret verifies and opens. */
export interface Keys {
  /** The number of secrets. */
  readonly size: number;
}

const minBytes = 32;

/**
 * A ring of secrets of at least 32 bytes each: `openssl rand -base64 32` prints one. To change the secret, put the new one
 * first and keep the old one after it until everything that it signed has expired. Each use has its own key, derived by HKDF
 * with SHA-256 (RFC 5869).
 *
 * @throws Error for a shorter secret; the error does not quote it.
 */
export function ring(newest: string, ...retired: readonly string[]): Keys {
  needsTexts("Keys.ring: secrets", [newest, ...retired]);
  const keys = new KeyRing([newest, ...retired]);
  const short = keys.shorterThan(minBytes);
  if (short !== -1) throw new Error(`Keys.ring: secrets[${short}] is shorter than ${minBytes} bytes`);
  return keys;
}

/**
 * Signs a text for an application's token, such as a link in a mail: HMAC-SHA-256, in base64url.
 *
 * @throws Error for a text with a lone surrogate: it has no UTF-8.
 */
export async function sign(keys: Keys, text: string): Promise<string> {
  needsText("Keys.sign: its text", text);
  needsUnicode("Keys.sign: the text", text);
  return encodeBase64url(await ringOf(keys, "Keys.sign").sign("text signing", text));
}

/** Whether any key of the ring signed the text; compared in constant time. */
export async function verify(keys: Keys, text: string, signature: string): Promise<boolean> {
  needsText("Keys.verify: its text", text);
  needsText("Keys.verify: its signature", signature);
  const signer = ringOf(keys, "Keys.verify");
  const bytes = decodeBase64url(signature);
  return bytes !== undefined && text.isWellFormed() && signer.verify("text signing", text, bytes);
}

/**
 * Encrypts and authenticates a text: AES-256-GCM, in base64url. `context` names its purpose, and only the same context opens
 * it. Two seals of one text differ. Replace a secret after it has sealed 2³² texts.
 */
export async function seal(keys: Keys, text: string, context: string): Promise<string> {
  needsText("Keys.seal: its text", text);
  needsText("Keys.seal: its context", context);
  needsUnicode("Keys.seal: the text", text);
  needsUnicode("Keys.seal: the context", context);
  return encodeBase64url(await ringOf(keys, "Keys.seal").seal("text sealing", text, context));
}

/** The text that was sealed with this context; undefined for anything else. */
export async function open(keys: Keys, sealed: string, context: string): Promise<string | undefined> {
  needsText("Keys.open: its text", sealed);
  needsText("Keys.open: its context", context);
  const opener = ringOf(keys, "Keys.open");
  const bytes = decodeBase64url(sealed);
  return bytes === undefined || !context.isWellFormed() ? undefined : opener.open("text sealing", bytes, context);
}

/** Two texts with lone surrogates would have the same bytes, and so one signature. */
function needsUnicode(at: string, text: string): void {
  if (!text.isWellFormed()) throw new Error(`${at} is not Unicode: it has a lone surrogate`);
}

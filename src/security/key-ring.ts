import { losslessBytes } from "../http/bytes.ts";

/** The use that a key is derived for. A signature for one use is invalid for the others. */
export type KeyUse = "cookie signing" | "cookie sealing" | "text signing" | "text sealing";

type DerivedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

// RFC 5869 §2.2: without a salt, HKDF uses zeros of the hash's length.
const noSalt = /* @__PURE__ */ new Uint8Array(32);
const utf8 = /* @__PURE__ */ new TextEncoder();
const nonceBytes = 12;
const tagBytes = 16;

/** Secrets, the newest first, and their derived keys: the inside of an application's `Keys`. */
export class KeyRing {
  readonly #secrets: readonly Uint8Array<ArrayBuffer>[];
  // Keys and not promises: on Workers a request may not await another request's promise.
  readonly #derived = new Map<KeyUse, readonly DerivedKey[]>();

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.map(losslessBytes);
  }

  get size(): number {
    return this.#secrets.length;
  }

  /** The place of the first secret with fewer bytes, or -1. */
  shorterThan(bytes: number): number {
    return this.#secrets.findIndex(({ byteLength }) => byteLength < bytes);
  }

  /** HMAC-SHA-256 with the newest secret. */
  async sign(use: KeyUse, text: string): Promise<Uint8Array> {
    const [newest] = await this.#keys(use);
    return new Uint8Array(await crypto.subtle.sign("HMAC", newest as DerivedKey, utf8.encode(text)));
  }

  /** Whether any secret signed the text, in constant time for signatures of the right length. */
  async verify(use: KeyUse, text: string, signature: Uint8Array<ArrayBuffer>): Promise<boolean> {
    for (const key of await this.#keys(use)) {
      if (await crypto.subtle.verify("HMAC", key, signature, utf8.encode(text))) return true;
    }
    return false;
  }

  /** AES-256-GCM with the newest secret: a fresh nonce, the text, and a tag over the text and its context. */
  async seal(use: KeyUse, text: string, context: string): Promise<Uint8Array> {
    const [newest] = await this.#keys(use);
    const iv = crypto.getRandomValues(new Uint8Array(nonceBytes));
    const algorithm = { name: "AES-GCM", iv, additionalData: utf8.encode(context) };
    const sealed = await crypto.subtle.encrypt(algorithm, newest as DerivedKey, utf8.encode(text));
    const bytes = new Uint8Array(nonceBytes + sealed.byteLength);
    bytes.set(iv);
    bytes.set(new Uint8Array(sealed), nonceBytes);
    return bytes;
  }

  /** The text that one of the secrets sealed with this context; undefined otherwise. */
  async open(use: KeyUse, sealed: Uint8Array<ArrayBuffer>, context: string): Promise<string | undefined> {
    if (sealed.byteLength < nonceBytes + tagBytes) return undefined;
    const iv = sealed.subarray(0, nonceBytes);
    const algorithm = { name: "AES-GCM", iv, additionalData: utf8.encode(context) };
    for (const key of await this.#keys(use)) {
      const opened = await crypto.subtle.decrypt(algorithm, key, sealed.subarray(nonceBytes)).catch(() => undefined);
      // Only texts are sealed, so the bytes are UTF-8.
      if (opened !== undefined) return new TextDecoder("utf-8", { ignoreBOM: true }).decode(opened);
    }
    return undefined;
  }

  async #keys(use: KeyUse): Promise<readonly DerivedKey[]> {
    const known = this.#derived.get(use);
    if (known !== undefined) return known;
    const derived = await Promise.all(this.#secrets.map((secret) => derive(secret, use)));
    this.#derived.set(use, derived);
    return derived;
  }
}

/** The inside of `Keys`. */
export function ringOf(keys: { readonly size: number }, at: string): KeyRing {
  if (keys instanceof KeyRing) return keys;
  throw new Error(`${at}: the keys must be made by Keys.ring`);
}

async function derive(secret: Uint8Array<ArrayBuffer>, use: KeyUse): Promise<DerivedKey> {
  const { subtle } = crypto;
  const base = await subtle.importKey("raw", secret, "HKDF", false, ["deriveKey"]);
  const hkdf = { name: "HKDF", hash: "SHA-256", salt: noSalt, info: utf8.encode(`usher-http ${use}`) };
  return use.endsWith("signing")
    ? subtle.deriveKey(hkdf, base, { name: "HMAC", hash: "SHA-256", length: 256 }, false, ["sign", "verify"])
    : subtle.deriveKey(hkdf, base, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}

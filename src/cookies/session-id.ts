import { encodeBase64url } from "../codecs/base64url.ts";

/** 128 random bits, in base64url: nobody guesses one. */
export function freshSessionId(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(16)));
}

/** Whether a text can be an id at all: what can be none is not looked for. */
export function isSessionId(text: string): boolean {
  return /^[A-Za-z0-9_-]{22}$/.test(text);
}

/** What a store knows an id by: the SHA-256 of its text, in lower-case hexadecimal digits. */
export async function digestOf(id: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(id)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

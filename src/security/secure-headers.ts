import { isServerOwned } from "../exchange/answer.ts";
import { needsObject } from "../arguments.ts";
import { isFieldValue, isToken } from "../http/fields.ts";

/** Headers that every response has unless it sets them itself, made by `SecureHeaders.make`: the app's option `secureHeaders`. */
export interface SecureHeaders {
  /** The headers to add, names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The defaults. */
const strict: { readonly [name: string]: string } = {
  // A page loads, frames and submits to its own origin only, and runs no inline script.
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
  // Not "no-referrer": a page's own form would then send the origin "null", which is refused without HTTPS.
  "referrer-policy": "same-origin",
  // A browser applies it only over HTTPS.
  "strict-transport-security": "max-age=31536000",
  "x-content-type-options": "nosniff",
  // For browsers without frame-ancestors.
  "x-frame-options": "DENY",
};

/**
 * Security headers for browsers. A route's own header of the same name replaces one: a page that needs more sets its own
 * `content-security-policy`.
 *
 * @param changes Other values by name, or other headers; `false` removes one.
 * @throws Error for an invalid name or value.
 */
export function make(changes: { readonly [name: string]: string | false } = {}): SecureHeaders {
  needsObject("SecureHeaders.make: changes", changes);
  const headers = new Map<string, string>(Object.entries(strict));
  for (const [given, value] of Object.entries(changes)) {
    const name = given.toLowerCase();
    if (!isToken(name)) throw new Error(`SecureHeaders.make: ${JSON.stringify(given)} is not a header's name`);
    if (isServerOwned(name)) throw new Error(`SecureHeaders.make: ${name} is set by the framework itself`);
    if (value === false) headers.delete(name);
    else if (isFieldValue(value)) headers.set(name, value);
    else throw new Error(`SecureHeaders.make: no header can hold the value of ${given}`);
  }
  return { headers: [...headers] };
}

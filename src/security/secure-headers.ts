import { isFieldValue, isServerOwned } from "../answers/invalid-answer.ts";
import { isToken } from "../http/fields.ts";

/** Headers that every answer carries unless it has one of that name itself, made by {@link make}: `secureHeaders` of an app. */
export interface SecureHeaders {
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** What is sent unless it is changed. */
const strict: { readonly [name: string]: string } = {
  // A page loads, runs, frames and sends to nothing but its own origin, and no script that stands in the page itself.
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
  // Not "no-referrer": a form of one's own would be posted with the origin "null", which is refused without HTTPS.
  "referrer-policy": "same-origin",
  // A browser minds it over HTTPS alone.
  "strict-transport-security": "max-age=31536000",
  "x-content-type-options": "nosniff",
  // For browsers that do not know frame-ancestors.
  "x-frame-options": "DENY",
};

/**
 * Headers by which browsers hold pages to what they are meant to do. A route's own header of the same name is sent in
 * their place, and so a page that needs more says so in its own `content-security-policy`.
 *
 * @param changes Other values by name, or other headers; `false` leaves one out.
 * @throws Error for a name or a value that no header can have.
 */
export function make(changes: { readonly [name: string]: string | false } = {}): SecureHeaders {
  const headers = new Map<string, string>(Object.entries(strict));
  for (const [given, value] of Object.entries(changes)) {
    const name = given.toLowerCase();
    if (!isToken(name)) throw new Error(`SecureHeaders.make: ${JSON.stringify(given)} is not a header's name`);
    if (isServerOwned(name, 200)) throw new Error(`SecureHeaders.make: ${name} is the framework's own to write`);
    if (value === false) headers.delete(name);
    else if (isFieldValue(value)) headers.set(name, value);
    else throw new Error(`SecureHeaders.make: no header can hold the value of ${given}`);
  }
  return { headers: [...headers] };
}

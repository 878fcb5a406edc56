import { addressBytes } from "./proxies/address.ts";

// RFC 3986 §3.2.2: a name, or an address in brackets, of which there is a form for those to come.
const named = /^(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+(?::\d*)?$/i;
const bracketed = /^\[(?:([\da-f:.]+)|v[\da-f]+\.[\w.~!$&'()*+,;=:-]+)\](?::\d*)?$/i;

/** Whether a text is a host, with a port or without. */
function isAuthority(text: string): boolean {
  if (named.test(text)) return true;
  const match = bracketed.exec(text);
  if (match === null) return false;
  const [, address] = match;
  return address === undefined || (address.includes(":") && addressBytes(address) !== undefined);
}

/** Whether a text is what `Host` may be (RFC 9110 §7.2): empty, for a target that has no authority, too. */
export function isHost(text: string): boolean {
  return text === "" || isAuthority(text);
}

/** Whether a text is what `CONNECT` may be for (RFC 9110 §9.3.6): with its port. */
export function isHostAndPort(text: string): boolean {
  return /:\d+$/.test(text) && isAuthority(text);
}

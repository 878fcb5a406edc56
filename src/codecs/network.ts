import { addressBytes } from "./address.ts";

/** More than any address, with its brackets, port and zone. */
const longest = 100;
// RFC 6052 §2.1: a network of IPv6 alone shows every IPv4 client under these, all of them in one /64.
const translated = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0];

/**
 * What one client's addresses have in common, however they are written: all of an IPv4 address, and of an IPv6 one its first
 * bits. A text that is no address is its own.
 */
export function networkOf(text: string, ipv6Prefix: number): string {
  // An IPv4 address by itself is written in one way.
  if (text.length > longest || !/[:[]/.test(text)) return text;
  const bytes = addressBytes(withoutZone(withoutPort(text)));
  if (bytes === undefined) return text;
  if (bytes.length === 4) return bytes.join(".");
  return translated.every((byte, i) => bytes[i] === byte) ? bytes.subarray(12).join(".") : prefixOf(bytes, ipv6Prefix);
}

/** An address as a proxy tells it, without its port and brackets. */
export function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1];
  return bracketed ?? (/^[^:]*:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text);
}

// RFC 4007 §11: which of the machine's own links an address is on.
function withoutZone(text: string): string {
  const percent = text.indexOf("%");
  return percent === -1 ? text : text.slice(0, percent);
}

function prefixOf(bytes: Uint8Array, bits: number): string {
  const groups: string[] = [];
  for (let at = 0; at < bits; at += 16) {
    const group = ((bytes[at / 8] as number) << 8) | (bytes[at / 8 + 1] as number);
    const kept = 0xffff << Math.max(0, at + 16 - bits);
    groups.push((group & kept).toString(16));
  }
  return `${groups.join(":")}${groups.length < 8 ? "::" : ""}/${bits}`;
}

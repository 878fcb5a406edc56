/** The bytes of an address, 4 or 16; an IPv4-mapped IPv6 address has 4. Undefined where the text is not an address. */
function addressBytes(text: string): Uint8Array | undefined {
  const bytes = text.includes(":") ? sixBytes(text) : fourBytes(text);
  if (bytes === undefined || bytes.length === 4) return bytes;
  return mappedPrefix.every((byte, i) => bytes[i] === byte) ? bytes.subarray(12) : bytes;
}

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

function fourBytes(text: string): Uint8Array | undefined {
  // Some parsers read a leading zero as octal, so no address has one.
  if (!/^(?:(?:0|[1-9]\d{0,2})(?:\.(?!$)|$)){4}$/.test(text)) return undefined;
  const numbers = text.split(".").map(Number);
  return numbers.every((number) => number <= 255) ? Uint8Array.from(numbers) : undefined;
}

/** RFC 4291 §2.2: eight groups. `::` stands for one or more groups of zeros; the last two groups may be an IPv4 address. */
function sixBytes(text: string): Uint8Array | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [before, after] = [groups(halves[0] as string, halves.length === 1), groups(halves[1] ?? "", true)];
  if (before === undefined || after === undefined) return undefined;
  const given = before.length + after.length;
  if (halves.length === 1 ? given !== 16 : given > 14) return undefined;
  const bytes = new Uint8Array(16);
  bytes.set(before);
  bytes.set(after, 16 - after.length);
  return bytes;
}

function groups(text: string, isLast: boolean): readonly number[] | undefined {
  if (text === "") return [];
  const bytes: number[] = [];
  const words = text.split(":");
  for (const [i, word] of words.entries()) {
    if (isLast && i === words.length - 1 && word.includes(".")) {
      const four = fourBytes(word);
      if (four === undefined) return undefined;
      bytes.push(...four);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(word)) return undefined;
      const group = Number.parseInt(word, 16);
      bytes.push(group >> 8, group & 0xff);
    }
  }
  return bytes;
}

/** Longer than any address with its brackets, port and zone. */
const maxLength = 100;
// RFC 6052 §2.1: an IPv6-only network (NAT64) shows every IPv4 client under this prefix, all of them in one /64.
const translated = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0];

/**
 * The network of a client, however its address is written: a whole IPv4 address, or the first bits of an IPv6 one. A text
 * that is not an address stays as it is.
 */
export function networkOf(text: string, ipv6Prefix: number): string {
  // A bare IPv4 address has one spelling.
  if (text.length > maxLength || !/[:[]/.test(text)) return text;
  const bytes = addressBytes(withoutZone(withoutPort(text)));
  if (bytes === undefined) return text;
  if (bytes.length === 4) return bytes.join(".");
  return translated.every((byte, i) => bytes[i] === byte) ? bytes.subarray(12).join(".") : prefixOf(bytes, ipv6Prefix);
}

/** How many bits of an IPv6 address are the network of one client. */
const clientPrefix = 64;

/** The network of a client, which has one share of what is bounded. Undefined where it has no address, as behind a Unix socket. */
export function networkOfClient(client: string): string | undefined {
  return client === "" || client.startsWith("unix:") ? undefined : networkOf(client, clientPrefix);
}

/** The address of a peer: an IPv4 peer of a dual-stack socket without the prefix of IPv6 (RFC 4291 §2.5.5.2). */
export function peerAddress(address: string): string {
  return address.startsWith("::ffff:") ? address.slice(7) : address;
}

/** An address as a proxy writes it, without its port, which may be a name (RFC 7239 §6.3), and its brackets. */
export function withoutPort(text: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::(?:\d+|_[\w.-]+))?$/.exec(text) ?? [];
  return bracketed ?? plain ?? text;
}

// RFC 4007 §11: the zone names the local link.
export function withoutZone(text: string): string {
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

// esbuild drops an unused call that is marked as pure, but keeps a template literal with names in it.
const node = /* @__PURE__ */ nodeForm();

/** RFC 7239 §6. The groups are the text in brackets, and a numeric port. */
function nodeForm(): RegExp {
  const octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  const obfuscated = "_[A-Za-z0-9._-]+";
  return new RegExp(
    `^(?:${octet}(?:\\.${octet}){3}|\\[([0-9A-Fa-f:.]{2,45})\\]|[uU][nN][kK][nN][oO][wW][nN]|${obfuscated})` +
      `(?::(?:([0-9]{1,5})|${obfuscated}))?$`,
  );
}

/** Whether text names one side of a hop: an address, `unknown` or an obfuscated name, with an optional port. */
export function isNode(text: string): boolean {
  const parts = node.exec(text);
  if (parts === null) return false;
  const [, ipv6, port] = parts;
  return (ipv6 === undefined || isIpv6(ipv6)) && (port === undefined || Number(port) <= 65_535);
}

function isIpv6(address: string): boolean {
  return URL.canParse(`http://[${address}]/`);
}

export { addressBytes };

/** The addresses that share their first bits. */
export interface AddressRange {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

/** Reads an address or a CIDR range (RFC 4632 §3.1); undefined for any other text. */
export function readRange(text: string): AddressRange | undefined {
  const slash = text.indexOf("/");
  const written = slash === -1 ? text : text.slice(0, slash);
  const bytes = addressBytes(written);
  if (bytes === undefined) return undefined;
  const length = bytes.length * 8;
  if (slash === -1) return { bytes, bits: length };
  const bits = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits)) return undefined;
  // The prefix length of a mapped range counts the 96 bits of the mapping.
  const mapped = bytes.length === 4 && written.includes(":") ? 96 : 0;
  const counted = Number(bits) - mapped;
  return counted >= 0 && counted <= length ? { bytes, bits: counted } : undefined;
}

export function isWithin(address: Uint8Array, { bytes, bits }: AddressRange): boolean {
  if (address.length !== bytes.length) return false;
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) if (address[i] !== bytes[i]) return false;
  const left = bits & 7;
  return left === 0 || ((address[whole] as number) ^ (bytes[whole] as number)) >> (8 - left) === 0;
}

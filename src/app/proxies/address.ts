import { addressBytes } from "../../codecs/address.ts";

export { addressBytes };

/** The addresses that begin with the same bits. */
export interface AddressRange {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

/** Reads an address or a CIDR range (RFC 4632 §3.1); undefined where it is neither. */
export function readRange(text: string): AddressRange | undefined {
  const slash = text.indexOf("/");
  const written = slash === -1 ? text : text.slice(0, slash);
  const bytes = addressBytes(written);
  if (bytes === undefined) return undefined;
  const length = bytes.length * 8;
  if (slash === -1) return { bytes, bits: length };
  const bits = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits)) return undefined;
  // A range of mapped addresses is written with the bits of both.
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

import { decode } from "../codecs/utf8.ts";

/**
 * The text of a form-encoded name or value: `+` is a space, `%XX` a byte, and a `%` with no two digits behind it
 * stands for itself (WHATWG URL §5.1). Undefined where the bytes are no UTF-8.
 */
export function decodeFormText(encoded: string): string | undefined {
  const spaced = encoded.includes("+") ? encoded.replaceAll("+", " ") : encoded;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return decodeBytes(spaced);
  }
}

// decodeURIComponent throws for a lone "%" and for bytes that are no UTF-8 alike; here the two are told apart.
function decodeBytes(text: string): string | undefined {
  const bytes = new TextEncoder().encode(text);
  let length = 0;
  for (let i = 0; i < bytes.length; i++, length++) {
    const high = bytes[i] === 0x25 ? hexDigit(bytes[i + 1]) : -1;
    const low = high === -1 ? -1 : hexDigit(bytes[i + 2]);
    bytes[length] = low === -1 ? (bytes[i] as number) : high * 16 + low;
    if (low !== -1) i += 2;
  }
  return decode(bytes.subarray(0, length));
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

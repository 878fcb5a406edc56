/** Reads the text of bytes; undefined where they are not text of its charset. */
export interface Charset {
  /** Whether its bytes below 0x80 are ASCII, so that a urlencoded form can be in it. */
  readonly hasAscii: boolean;
  decode(bytes: Uint8Array): string | undefined;
}

// The longest label of WHATWG's Encoding Standard has 19 characters.
const maxLabel = 32;
const maxCharsets = 16;

/** The charsets of one request. Each is looked up once: on Deno 13,000 unknown ones take 0.7 s. */
export class Charsets {
  readonly #known = new Map<string, Charset | undefined>();

  /** The charset with a label, as `TextDecoder` has it; undefined where that has none, and for the seventeenth of one request. */
  of(label: string): Charset | undefined {
    const key = label.toLowerCase();
    if (this.#known.has(key)) return this.#known.get(key);
    if (key.length > maxLabel || this.#known.size >= maxCharsets) return undefined;
    const found = charset(key);
    this.#known.set(key, found);
    return found;
  }
}

function charset(label: string): Charset | undefined {
  const decoder = decoderOf(label);
  if (decoder === undefined) return undefined;
  const { encoding } = decoder;
  if (!encoding.startsWith("utf-16")) {
    const isWestern = encoding === "windows-1252";
    return { hasAscii: true, decode: (bytes) => decodedBy(decoder, bytes, isWestern) };
  }
  // Java writes "UTF-16" in big-endian with a BOM, and the label alone is little-endian.
  const little = new TextDecoder("utf-16le", { fatal: true });
  const big = new TextDecoder("utf-16be", { fatal: true });
  const decode = (bytes: Uint8Array): string | undefined => {
    const [first, second] = bytes;
    if (first === 0xfe && second === 0xff) return decodedBy(big, bytes, false);
    return decodedBy(first === 0xff && second === 0xfe ? little : decoder, bytes, false);
  };
  return { hasAscii: false, decode };
}

function decoderOf(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label, { fatal: true });
  } catch {
    return undefined;
  }
}

function decodedBy(decoder: TextDecoder, bytes: Uint8Array, isWestern: boolean): string | undefined {
  try {
    const text = decoder.decode(bytes);
    return isWestern ? text.replace(/[\x80-\x9f]/g, (unit) => western.charAt(unit.charCodeAt(0) - 0x80)) : text;
  } catch {
    return undefined;
  }
}

// Node 20 reads windows-1252 as ISO-8859-1, which has controls from 0x80 to 0x9F. Other platforms write no such character but those
// five that windows-1252 has, too.
const western =
  "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
  "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178";

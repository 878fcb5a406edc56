/** The text of an API key: a prefix that scanners know, random characters, and a checksum, as GitHub's tokens have them. */

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 190 random bits. */
const randomLength = 32;
/** The 32 bits of a CRC in base 62. */
const checkLength = 6;

/** Whether a text can be a prefix. */
export function isPrefix(text: unknown): text is string {
  return typeof text === "string" && /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(text) && text.length <= 32;
}

/** A key that cannot be guessed: `shop_live_` and 38 letters and digits. */
export function freshKey(prefix: string): string {
  let random = "";
  while (random.length < randomLength) {
    // Of the 256 values of a byte, 248 are four times 62: any other would make some digits more frequent.
    for (const byte of crypto.getRandomValues(new Uint8Array(48))) if (byte < 248) random += digits[byte % 62];
  }
  random = random.slice(0, randomLength);
  return `${prefix}_${random}${checkOf(`${prefix}_${random}`)}`;
}

/** Whether a text can be a key of this prefix: its checksum is right. The store is not asked for any other. */
export function isKey(prefix: string, text: string): boolean {
  const start = prefix.length + 1;
  if (text.length !== start + randomLength + checkLength || !text.startsWith(`${prefix}_`)) return false;
  const body = text.slice(0, -checkLength);
  return /^[0-9A-Za-z]+$/.test(text.slice(start)) && text.slice(-checkLength) === checkOf(body);
}

/** CRC-32 (ISO 3309) in base 62: it finds a mistyped key, and is no secret. */
function checkOf(text: string): string {
  let crc = 0xff_ff_ff_ff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xed_b8_83_20 & -(crc & 1));
  }
  let rest = (crc ^ 0xff_ff_ff_ff) >>> 0;
  let check = "";
  for (let i = 0; i < checkLength; i++) {
    check = digits[rest % 62] + check;
    rest = Math.floor(rest / 62);
  }
  return check;
}

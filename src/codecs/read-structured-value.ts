import type { FieldScanner } from "./field-scanner.ts";
import type { StructuredValue } from "./structured-types.ts";

const stringPart = /[ !\x23-\x5b\x5d-\x7e]+|\\["\\]/y;
const display = /%"[ !\x23-\x7e]*"/y;
const bytes = /:[A-Za-z0-9+/=]*:/y;
const boolean = /\?[01]/y;
const date = /@-?[0-9]{1,15}/y;
const decimal = /-?[0-9]{1,12}\.[0-9]{1,3}/y;
const integer = /-?[0-9]{1,15}/y;
const token = /[A-Za-z*][:/!#$%&'*+\-.^_`|~0-9A-Za-z]*/y;

/** The value that is next (RFC 9651 §4.2.3.1), undefined where none is. What follows it is the caller's to look at. */
export function readValue(field: FieldScanner): StructuredValue | undefined {
  switch (field.next) {
    case '"':
      return readString(field);
    case "%":
      return readDisplay(field);
    case ":":
      return readBytes(field);
    case "?":
      return readBoolean(field);
    case "@":
      return readDate(field);
    default:
      return readDecimal(field) ?? readInteger(field) ?? readToken(field);
  }
}

function readString(field: FieldScanner): string | undefined {
  let says = "";
  field.take('"');
  while (!field.take('"')) {
    const part = field.match(stringPart);
    if (part === undefined) return undefined;
    says += part.startsWith("\\") ? part.slice(1) : part;
  }
  return says;
}

function readDisplay(field: FieldScanner): StructuredValue | undefined {
  const escaped = field.match(display)?.slice(2, -1);
  // §4.2.10: the escapes are in lower case; decodeURIComponent would take upper case too.
  if (escaped === undefined || /%(?![0-9a-f]{2})/.test(escaped)) return undefined;
  try {
    return { display: decodeURIComponent(escaped) };
  } catch {
    return undefined;
  }
}

function readBytes(field: FieldScanner): StructuredValue | undefined {
  const text = field.match(bytes)?.slice(1, -1);
  if (text === undefined) return undefined;
  try {
    // §4.2.7: missing padding and stray last bits are read, and atob reads both.
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function readBoolean(field: FieldScanner): boolean | undefined {
  const text = field.match(boolean);
  return text === undefined ? undefined : text === "?1";
}

function readDate(field: FieldScanner): Date | undefined {
  const text = field.match(date);
  if (text === undefined) return undefined;
  const value = new Date(Number(text.slice(1)) * 1000);
  // 15 digits of seconds reach past the last Date; §3.3.7 asks for the years 1 to 9999.
  return Number.isNaN(value.getTime()) ? undefined : value;
}

function readDecimal(field: FieldScanner): StructuredValue | undefined {
  const text = field.match(decimal);
  if (text === undefined) return undefined;
  const [whole = "", fraction = ""] = text.split(".");
  return { thousandths: positiveZero(Number(whole + fraction.padEnd(3, "0"))) };
}

function readInteger(field: FieldScanner): number | undefined {
  const text = field.match(integer);
  return text === undefined ? undefined : positiveZero(Number(text));
}

function readToken(field: FieldScanner): StructuredValue | undefined {
  const text = field.match(token);
  return text === undefined ? undefined : { token: text };
}

function positiveZero(value: number): number {
  return value === 0 ? 0 : value;
}

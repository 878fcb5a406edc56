import type { StructuredValue } from "./structured-types.ts";

const mostDigits = 999_999_999_999_999;

/** The value's text (RFC 9651 §4.1.3.1), undefined where it has none. */
export function printValue(value: StructuredValue): string | undefined {
  if (typeof value === "number") return printNumber(value);
  if (typeof value === "boolean") return value ? "?1" : "?0";
  if (typeof value === "string") return printString(value);
  if (value instanceof Uint8Array) return printBytes(value);
  if (value instanceof Date) return printDate(value);
  if ("token" in value) return printToken(value.token);
  return "display" in value ? printDisplay(value.display) : printDecimal(value.thousandths);
}

function printNumber(value: number): string | undefined {
  return Number.isInteger(value) ? printInteger(value) : printDecimal(roundHalfEven(value * 1000));
}

function printInteger(value: number): string | undefined {
  return Math.abs(value) <= mostDigits ? String(value) : undefined;
}

// 12 digits before the point and 3 after it, one of them at least.
function printDecimal(thousandths: number): string | undefined {
  if (!Number.isInteger(thousandths) || Math.abs(thousandths) > mostDigits) return undefined;
  const digits = String(Math.abs(thousandths)).padStart(4, "0");
  const fraction = digits.slice(-3).replace(/0{1,2}$/, "");
  return `${thousandths < 0 ? "-" : ""}${digits.slice(0, -3)}.${fraction}`;
}

function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const past = value - below;
  return past > 0.5 || (past === 0.5 && below % 2 !== 0) ? below + 1 : below;
}

function printString(value: string): string | undefined {
  return /^[ -~]*$/.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : undefined;
}

function printToken(value: string): string | undefined {
  return /^[A-Za-z*][:/!#$%&'*+\-.^_`|~0-9A-Za-z]*$/.test(value) ? value : undefined;
}

function printBytes(value: Uint8Array): string {
  let binary = "";
  for (const byte of value) binary += String.fromCharCode(byte);
  return `:${btoa(binary)}:`;
}

function printDate(value: Date): string | undefined {
  const seconds = Math.floor(value.getTime() / 1000);
  return Number.isNaN(seconds) ? undefined : `@${seconds}`;
}

// §4.1.11: UTF-8, every byte that is not printable ASCII escaped in lower case, and the quote and the percent sign.
function printDisplay(value: string): string | undefined {
  if (!value.isWellFormed()) return undefined;
  return `%"${value.replace(/[^ !\x23\x24\x26-\x7e]+/g, (part) => encodeURIComponent(part).toLowerCase())}"`;
}

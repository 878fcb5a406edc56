/** The field values of conditional requests and of ranges (RFC 9110 §8.8, §13, §14). */
import { FieldScanner, isToken, token } from "../http/fields.ts";
import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import { elements, malformed, readElements } from "./codec.ts";
import type { Codec } from "./codec.ts";
import { digitsAt, isCalendarDate } from "./time.ts";

/** The version of a representation (RFC 9110 §8.8.3). */
export interface EntityTag {
  /** The text between the quotes. */
  readonly tag: string;
  /** Whether two representations of this tag may differ in their bytes. */
  readonly weak: boolean;
}

const weakPrefix = /W\//y;
const opaque = /"[\x21\x23-\x7e\x80-\xff]*"/y;

function readEntityTag(field: FieldScanner): EntityTag | undefined {
  const weak = field.match(weakPrefix) !== undefined;
  const quoted = field.match(opaque);
  return quoted === undefined ? undefined : { tag: quoted.slice(1, -1), weak };
}

/** Undefined where a field value cannot hold the tag. */
function printEntityTag({ tag, weak }: EntityTag): string | undefined {
  return /^[\x21\x23-\x7e\x80-\xff]*$/.test(tag) ? `${weak ? "W/" : ""}"${tag}"` : undefined;
}

const notEntityTag = /* @__PURE__ */ malformed("an entity tag");

/** One entity tag, as in `ETag`: `"v1"`, or `W/"v1"` where it is weak. */
export const entityTag: Codec<EntityTag> = {
  parse: (text) => {
    const field = new FieldScanner(text);
    const tag = readEntityTag(field);
    return tag !== undefined && field.done ? ok(tag) : notEntityTag;
  },
  print: (value) => printEntityTag(value) ?? "",
  text: { type: "string" },
};

const listed = /* @__PURE__ */ elements({
  expects: "a list of entity tags",
  least: 1,
  read: readEntityTag,
  print: printEntityTag,
});

/** The entity tags of `If-Match` and `If-None-Match` (RFC 9110 §13.1.1), in the order sent; `"*"` is any. */
export const entityTags: Codec<readonly EntityTag[] | "*"> = {
  parse: (text) => (text === "*" ? ok("*") : listed.parse(text)),
  print: (value) => (value === "*" ? "*" : listed.print(value)),
  list: true,
  text: { type: "string" },
};

const notHttpDate = /* @__PURE__ */ malformed("a date of HTTP, as Sun, 06 Nov 1994 08:49:37 GMT");
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const month = months.join("|");
const short = "Mon|Tue|Wed|Thu|Fri|Sat|Sun";
const long = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday";
const time = "[0-9]{2}:[0-9]{2}:[0-9]{2}";

/** The three forms of RFC 9110 §5.6.7. */
const imf = /* @__PURE__ */ new RegExp(`^(?:${short}), [0-9]{2} (?:${month}) [0-9]{4} ${time} GMT$`);
const rfc850 = /* @__PURE__ */ new RegExp(`^(?:${long}), [0-9]{2}-(?:${month})-[0-9]{2} ${time} GMT$`);
const asctime = /* @__PURE__ */ new RegExp(`^(?:${short}) (?:${month}) [ 0-9][0-9] ${time} [0-9]{4}$`);

function parseHttpDate(text: string): Result<Date, string> {
  if (imf.test(text)) {
    return dateAt(digitsAt(text, 12, 4), text.slice(8, 11), digitsAt(text, 5, 2), text.slice(17, 25));
  }
  if (rfc850.test(text)) {
    const at = text.indexOf(",") + 2;
    return dateAt(
      fullYear(digitsAt(text, at + 7, 2)),
      text.slice(at + 3, at + 6),
      digitsAt(text, at, 2),
      text.slice(at + 10),
    );
  }
  if (!asctime.test(text)) return notHttpDate;
  // The day may have a space in the place of a zero.
  const day = text[8] === " " ? digitsAt(text, 9, 1) : digitsAt(text, 8, 2);
  return dateAt(digitsAt(text, 20, 4), text.slice(4, 7), day, text.slice(11, 19));
}

function dateAt(year: number, monthName: string, day: number, clock: string): Result<Date, string> {
  const index = months.indexOf(monthName);
  const [hours, minutes, seconds] = [digitsAt(clock, 0, 2), digitsAt(clock, 3, 2), digitsAt(clock, 6, 2)];
  if (!isCalendarDate(year, index + 1, day) || hours > 23 || minutes > 59 || seconds > 60) return notHttpDate;
  // A leap second, 23:59:60, is the second after it. `Date.UTC` would read the years 0 to 99 as 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, index, day);
  date.setUTCHours(hours, minutes, seconds);
  return date.getUTCFullYear() > 9999 ? notHttpDate : ok(date);
}

// RFC 9110 §5.6.7: a year of two digits that would be more than 50 years in the future is in the past.
function fullYear(year: number): number {
  const now = new Date().getUTCFullYear();
  const inThisCentury = now - (now % 100) + year;
  return inThisCentury > now + 50 ? inThisCentury - 100 : inThisCentury;
}

/**
 * A date of HTTP (RFC 9110 §5.6.7), to the second: `Sun, 06 Nov 1994 08:49:37 GMT`. The two old forms are read, too, and the
 * name of the day is not compared with the date. A `Date` outside the years 0000 to 9999 prints as nothing.
 */
export const httpDate: Codec<Date> = {
  parse: parseHttpDate,
  print: (value) => {
    const year = value.getUTCFullYear();
    return year >= 0 && year <= 9999 ? value.toUTCString() : "";
  },
  text: { type: "string" },
};

/** A range of bytes: from `first` to `last`, both included, or to the end; or the last `suffix` bytes. */
export type ByteRange = { readonly first: number; readonly last?: number } | { readonly suffix: number };

/** The value of `Range` (RFC 9110 §14.2). */
export type Ranges =
  | { readonly unit: "bytes"; readonly ranges: readonly ByteRange[] }
  /** Ranges of another unit, as sent. */
  | { readonly unit: string; readonly ranges?: undefined; readonly unread: string };

const otherRanges = /[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?/y;
const digits = /[0-9]+/y;
const notByteRanges = /* @__PURE__ */ malformed("ranges, as bytes=0-499");

/** A position that no `number` holds is past every end. */
function positionOf(text: string): number {
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

function readByteRange(field: FieldScanner): ByteRange | undefined {
  const first = field.match(digits);
  if (!field.take("-")) return undefined;
  const last = field.match(digits);
  if (first === undefined) return last === undefined ? undefined : { suffix: positionOf(last) };
  if (last === undefined) return { first: positionOf(first) };
  const range = { first: positionOf(first), last: positionOf(last) };
  return range.first <= range.last ? range : undefined;
}

function printByteRange(range: ByteRange): string | undefined {
  if ("suffix" in range) return isPosition(range.suffix) ? `-${range.suffix}` : undefined;
  const { first, last } = range;
  if (!isPosition(first)) return undefined;
  if (last === undefined) return `${first}-`;
  return isPosition(last) && first <= last ? `${first}-${last}` : undefined;
}

function isPosition(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** The ranges of `Range` (RFC 9110 §14.2), in the order sent. Those of another unit than bytes are kept as text. */
export const byteRanges: Codec<Ranges> = {
  parse: (text) => {
    const field = new FieldScanner(text);
    const unit = field.match(token)?.toLowerCase();
    if (unit === undefined || !field.take("=")) return notByteRanges;
    if (unit !== "bytes") {
      const unread = field.match(otherRanges);
      return unread !== undefined && field.done ? ok({ unit, unread }) : notByteRanges;
    }
    const ranges = readElements(field, readByteRange);
    return ranges === undefined || ranges.length === 0 ? notByteRanges : ok({ unit: "bytes", ranges });
  },
  print: (value) => {
    if (value.ranges === undefined) return printOtherRanges(value.unit, value.unread);
    const printed = value.ranges.map(printByteRange);
    return printed.length === 0 || printed.includes(undefined) ? "" : `bytes=${printed.join(", ")}`;
  },
  text: { type: "string" },
};

function printOtherRanges(unit: string, unread: string): string {
  const isPrintable =
    isToken(unit) && unit.toLowerCase() !== "bytes" && new FieldScanner(unread).match(otherRanges) === unread;
  return isPrintable ? `${unit.toLowerCase()}=${unread}` : "";
}

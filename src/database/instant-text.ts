/** A moment as PostgreSQL writes a `timestamptz`: `2026-09-30 14:00:00.25+02`. */
import { digitsAt } from "../codecs/calendar.ts";
import { Misfit } from "./type.ts";

// No year before the first and none past 9999: those are written in other forms, and no other runtime agrees on them.
const form = /^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?[+-][0-9]{2}(?::[0-9]{2}){0,2}$/;
const earliestMs = -62_135_596_800_000; // 0001-01-01T00:00:00.000Z
const latestMs = 253_402_300_799_999; // 9999-12-31T23:59:59.999Z
const fourCenturiesMs = 146_097 * 86_400_000;

/** The moment, whatever time zone the session prints it in. */
export function instantOf(text: string): Date {
  if (!form.test(text)) throw new Misfit();
  const at = (start: number): number => digitsAt(text, start, 2);
  // Date.UTC takes the years 0 to 99 for 1900 to 1999; the calendar repeats after four centuries.
  const year = digitsAt(text, 0, 4) + 400;
  const local = Date.UTC(year, at(5) - 1, at(8), at(11), at(14), at(17), millisecondsOf(text));
  return new Date(local - fourCenturiesMs - offsetMs(text));
}

export function instantText(value: Date): string {
  const instant = value.getTime();
  if (!(instant >= earliestMs && instant <= latestMs)) throw new Misfit();
  return value.toISOString();
}

function millisecondsOf(text: string): number {
  if (text[19] !== ".") return 0;
  let value = 0;
  for (let at = 20, worth = 100; worth >= 1; at++, worth /= 10) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) break;
    value += digit * worth;
  }
  return value;
}

// Hours, and minutes and seconds where there are some: zones of long ago were not whole minutes from Greenwich.
function offsetMs(text: string): number {
  const sign = Math.max(text.lastIndexOf("+"), text.lastIndexOf("-"));
  const at = (place: number): number => (text.length > sign + place ? digitsAt(text, sign + place, 2) : 0);
  const length = ((at(1) * 60 + at(4)) * 60 + at(7)) * 1000;
  return text[sign] === "-" ? -length : length;
}

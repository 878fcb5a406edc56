import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import { digitsAt, isCalendarDate } from "./calendar.ts";
import type { CalendarDate } from "./calendar.ts";
import type { Codec } from "./codec.ts";
import { malformed } from "./malformed.ts";

const notDate = /* @__PURE__ */ malformed("a date, as 2026-09-30");

function parse(text: string): Result<CalendarDate, string> {
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) return notDate;
  const year = digitsAt(text, 0, 4);
  const month = digitsAt(text, 5, 2);
  const day = digitsAt(text, 8, 2);
  return isCalendarDate(year, month, day) ? ok([year, month, day]) : notDate;
}

function print([year, month, day]: CalendarDate): string {
  if (!isCalendarDate(year, month, day)) return "";
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
}

function padded(value: number, length: number): string {
  return String(value).padStart(length, "0");
}

/** A day that is in the calendar, `2026-09-30`, in a year from 0000 to 9999. A day there is none of prints as nothing. */
export const date: Codec<CalendarDate> = { parse, print, text: { type: "string", format: "date" } };

/** A day of the Gregorian calendar, in a year from 0 to 9999; months and days count from 1. */
export type CalendarDate = readonly [year: number, month: number, day: number];

/** Whether there is such a day. */
export function isCalendarDate(year: number, month: number, day: number): boolean {
  return isWithin(year, 0, 9999) && isWithin(month, 1, 12) && isWithin(day, 1, daysIn(year, month));
}

/** The number that `count` digits write, where the text is known to have them. */
export function digitsAt(text: string, start: number, count: number): number {
  let value = 0;
  for (let at = start; at < start + count; at++) value = value * 10 + (text.charCodeAt(at) - 0x30);
  return value;
}

function isWithin(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

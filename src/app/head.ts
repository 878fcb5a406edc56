import { Unwritable } from "../answers/unwritable.ts";
import { isStream, isTakeover } from "../answers/answer.ts";
import type { Answer } from "../answers/answer.ts";
import { setCookieLine } from "../cookies/cookie.ts";
import { askingForTextKinds } from "../streams/text-kinds.ts";
import type { AskedExchange } from "./asked.ts";
import { httpDate } from "./http-date.ts";
import type { SecureHeaders } from "./secure-headers.ts";

/**
 * An answer's head, in the order it is written: the type, the answer's own, the id, cookies, the date, the length.
 *
 * @param size The bytes of the body; undefined where it is made while it is sent.
 */
export function headOf(asked: AskedExchange, answer: Answer, size: number | undefined): readonly string[] {
  const { contentType } = answer;
  const date = dateOf(asked, answer);
  if (contentType !== undefined && size !== undefined && isBare(asked, answer)) {
    return ordinaryHead(contentType, asked.id, date, String(size));
  }
  const { status, headers, cookies } = answer;
  const head =
    contentType === undefined ? [] : ["content-type", size === undefined ? typeOf(asked, answer) : contentType];
  for (const [name, value] of headers) head.push(name.toLowerCase(), value);
  if (asked.app.secureHeaders !== undefined) addMissing(head, asked.app.secureHeaders);
  head.push("x-request-id", asked.id);
  for (const cookie of cookies) head.push("set-cookie", setCookieLine(cookie, asked.secure));
  if (date !== "") head.push("date", date);
  if (size !== undefined && hasLength(status)) head.push("content-length", String(size));
  if (isTakeover(answer.body)) head.push("upgrade", answer.body.protocol, "connection", "upgrade");
  return head;
}

// Nearly every answer's. Made at once: for a list that is added to, V8 makes room for four times as much.
function ordinaryHead(type: string, id: string, date: string, length: string): readonly string[] {
  if (date === "") return ["content-type", type, "x-request-id", id, "content-length", length];
  return ["content-type", type, "x-request-id", id, "date", date, "content-length", length];
}

/** Whether nothing is told beside what the framework tells. */
function isBare({ app }: AskedExchange, { status, headers, cookies }: Answer): boolean {
  return headers.length === 0 && cookies.length === 0 && app.secureHeaders === undefined && hasLength(status);
}

// RFC 9110 §8.6 keeps it from the one; of the other it would be another answer's.
function hasLength(status: number): boolean {
  return status !== 204 && status !== 304;
}

/** Empty where none is told, or by the runtime. */
function dateOf(asked: AskedExchange, { status }: Answer): string {
  // A server that failed may have no trustworthy clock (RFC 9110 §6.6.1 leaves the date of a 5xx to it).
  if (status < 200 || status >= 500) return "";
  const { app, exchange } = asked;
  if (app.now !== undefined || exchange.now !== undefined) return httpDate(timeOf(asked.now));
  return exchange.date ?? httpDate(Date.now());
}

// RFC 9110 §5.6.7: a year has four digits.
const firstMs = Date.parse("0000-01-01T00:00:00Z");
const lastMs = Date.parse("9999-12-31T23:59:59Z");

/** The application's own clock may say anything. */
function timeOf(now: Date): number {
  const at = now.getTime();
  if (at >= firstMs && at <= lastMs) return at;
  throw new Unwritable("a date, by an app whose clock says none");
}

function addMissing(head: string[], { headers }: SecureHeaders): void {
  const own = new Set(head.filter((_, i) => i % 2 === 0));
  for (const [name, value] of headers) if (!own.has(name)) head.push(name, value);
}

function typeOf(asked: AskedExchange, { body, contentType = "" }: Answer): string {
  const named = isStream(body) ? body.typeWithTextKinds : undefined;
  if (named === undefined) return contentType;
  return asked.lines("accept").some((line) => line.includes(askingForTextKinds)) ? named : contentType;
}

/**
 * The least time to wait before the next request, in milliseconds: `Retry-After` in seconds or as an HTTP date (RFC 9110 §10.2.3).
 * It is 0 where there is none, and at most `maxMs`: a server that says a year, or whose clock is wrong, is asked again.
 */
export function retryAfterMs(headers: Headers, nowMs: number, maxMs: number): number {
  const text = headers.get("retry-after") ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : dateOf(text) - nowMs;
  return ms > 0 ? Math.min(ms, maxMs) : 0;
}

/** In the forms of RFC 9110 §5.6.7, of which asctime has no zone. The platform reads other texts, too: `-1` is a year for V8. */
function dateOf(text: string): number {
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return Number.NaN;
  return Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`);
}

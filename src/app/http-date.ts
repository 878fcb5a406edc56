let second = Number.NaN;
let text = "";

/** RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`; made once a second. */
export function httpDate(at: number): string {
  const now = Math.floor(at / 1000);
  if (now !== second) {
    second = now;
    text = new Date(now * 1000).toUTCString();
  }
  return text;
}

/**
 * What stands between two places of a field, without the SP and HTAB at its ends: white space in HTTP is these two alone
 * (RFC 9110 §5.6.3). `String.prototype.trim` takes U+00A0 and others too, which are part of a name or a value: a browser sends
 * a cookie named U+00A0 and `__Host-sid` for any sibling domain that set it.
 */
export function stripped(text: string, from = 0, to: number = text.length): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}

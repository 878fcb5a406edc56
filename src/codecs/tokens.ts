import { stripped } from "./white-space.ts";

/** Whether a header that lists tokens, on one line or several, has this one, in any case (RFC 9110 §5.6.1). */
export function lists(lines: readonly string[], token: string): boolean {
  const lower = token.toLowerCase();
  return itemsOf(lines).some((item) => item.toLowerCase() === lower);
}

/** The items of a list, as they were written. */
export function itemsOf(lines: readonly string[]): readonly string[] {
  return lines
    .join(",")
    .split(",")
    .map((item) => stripped(item));
}

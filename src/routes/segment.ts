import { decodePercent } from "../codecs/percent-text.ts";

/** The text a segment stands for; undefined where a percent sequence is broken or is no UTF-8. */
export function decodeSegment(segment: string): string | undefined {
  return segment.includes("%") ? (decodePercent(segment) ?? undefined) : segment;
}

/** A segment of this text, which no URL parser takes away. */
export function encodeSegment(text: string): string {
  return text === "." || text === ".." ? text.replaceAll(".", "%2E") : percentEncoded(text);
}

/** RFC 3986 §2.3: only the unreserved characters stand for themselves. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

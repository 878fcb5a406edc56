import { mediaType } from "../codecs/index.ts";

/** The `type/subtype` of a `Content-Type`, in lower case; undefined where it is no media type. */
export function mediaTypeOf(line: string): string | undefined {
  const read = mediaType.parse(line);
  return read.ok ? `${read.value.type}/${read.value.subtype}` : undefined;
}

/** Whether a media type is one of `type/subtype`, `type/*` or `type/*+suffix`, compared without case or parameters. */
export function accepts(accepted: readonly string[], line: string): boolean {
  const type = mediaTypeOf(line);
  return type !== undefined && accepted.some((pattern) => matches(pattern.toLowerCase(), type));
}

function matches(pattern: string, type: string): boolean {
  const star = pattern.indexOf("/*");
  if (star === -1) return pattern === type;
  const suffix = pattern.slice(star + 2);
  return type.startsWith(pattern.slice(0, star + 1)) && type.length > star + 1 + suffix.length && type.endsWith(suffix);
}

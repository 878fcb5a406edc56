import { mediaType } from "../codecs/index.ts";
import { stripped } from "../codecs/white-space.ts";
import { isToken } from "../codecs/word.ts";
import { sentences, unsupportedMediaType } from "../refusals/framework-codes.ts";
import { Problem } from "../refusals/problem.ts";
import { Refusal } from "../refusals/refusal.ts";
import type { Asked } from "./asked.ts";

/** The `type/subtype` of a `Content-Type`, in lower case; undefined where it is no media type. */
export function mediaTypeOf(line: string): string | undefined {
  const read = mediaType.parse(stripped(line));
  return read.ok ? `${read.value.type}/${read.value.subtype}` : undefined;
}

/** Whether a `Content-Type` says multipart/form-data, whatever its parameters are. */
export function isMultipart(line: string): boolean {
  return /^multipart\/form-data[\t ]*(?:;|$)/i.test(stripped(line));
}

/** A multipart body that names no boundary it could be read by. */
export const noBoundary: Problem = /* @__PURE__ */ new Problem(
  "header.content-type",
  "malformed",
  "This names no boundary.",
);

/** The only `Content-Type` of a request; undefined where it has none, and where it has several. */
export function contentTypeOf(asked: Asked): string | undefined {
  const lines = asked.lines("content-type");
  return lines.length === 1 ? lines[0] : undefined;
}

/** A 415 where the body's type is none of those accepted, or not named. */
export function checkContentType(asked: Asked, accepted: readonly string[]): Refusal | undefined {
  const line = contentTypeOf(asked);
  return line !== undefined && accepts(accepted, line) ? undefined : unsupported();
}

export function unsupported(): Refusal<"unsupported_media_type"> {
  return new Refusal(unsupportedMediaType, sentences.get("unsupported_media_type") as string, {});
}

/** Whether a media type is one of `type/subtype`, `type/*` or `type/*+suffix`, compared without case or parameters. */
function accepts(accepted: readonly string[], line: string): boolean {
  const type = mediaTypeOf(line);
  return type !== undefined && accepted.some((pattern) => matches(pattern.toLowerCase(), type));
}

/** What is wrong with the types a body may have, for the checks of an app being made. */
export function wrongContentTypes(types: readonly string[] = []): readonly string[] {
  const wrong = types.filter((type) => !isContentType(type));
  return wrong.map(
    (type) =>
      `accepts the content type ${JSON.stringify(type)}, which is neither type/subtype, type/* nor type/*+suffix`,
  );
}

/** Whether it is `type/subtype`, `type/*` or `type/*+suffix`. */
export function isContentType(text: string): boolean {
  const [type = "", subtype = "", ...more] = text.split("/");
  if (more.length > 0 || !isToken(type) || type.includes("*")) return false;
  return isToken(subtype) && /^(?:[^*]+|\*|\*\+[^*]+)$/.test(subtype);
}

function matches(pattern: string, type: string): boolean {
  const star = pattern.indexOf("/*");
  if (star === -1) return pattern === type;
  const suffix = pattern.slice(star + 2);
  return type.startsWith(pattern.slice(0, star + 1)) && type.length > star + 1 + suffix.length && type.endsWith(suffix);
}

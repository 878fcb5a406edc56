import { mediaType } from "../../codecs/index.ts";
import { stripped } from "../../codecs/white-space.ts";

/** RFC 2046 §5.1.1: 1 to 70 characters of `bchars`, the last no space. */
const legal = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/** The boundary a `Content-Type` names; undefined where it is no `multipart/form-data` or has no legal one. */
export function boundaryOf(contentType: string): string | undefined {
  const read = mediaType.parse(stripped(contentType));
  if (!read.ok || read.value.type !== "multipart" || read.value.subtype !== "form-data") return undefined;
  const boundary = read.value.parameters.get("boundary");
  return boundary !== undefined && legal.test(boundary) ? boundary : undefined;
}

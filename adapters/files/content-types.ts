import { lookup } from "mrmime";

/** Types of text that are not of `text/`. A browser would guess their encoding without `charset`. */
const otherTexts: ReadonlySet<string> = new Set(["application/javascript", "application/xml", "image/svg+xml"]);

/** Media types by extension, in lower case and without the dot. */
export type ContentTypes = { readonly [extension: string]: string };

/**
 * The `Content-Type` of a file's name: the application's own, or that of the table of `mrmime`; bytes where neither has one.
 * Text is UTF-8.
 */
export function contentTypeOf(name: string, own: ContentTypes): string {
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  if (Object.hasOwn(own, extension)) return own[extension] as string;
  const type = name.includes(".") ? lookup(extension) : undefined;
  if (type === undefined) return "application/octet-stream";
  return type.startsWith("text/") || otherTexts.has(type) ? `${type}; charset=utf-8` : type;
}

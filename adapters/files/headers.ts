/** What the headers of a file say: its type, the name to store it by, and how it is compressed. */
import { lookup } from "mrmime";

/** Types of text that are not of `text/`. A browser would guess their encoding without `charset`. */
const otherTexts: ReadonlySet<string> = new Set(["application/javascript", "application/xml", "image/svg+xml"]);

/** Types of files that people publish. The table of `mrmime` has no type that begins with `vnd.` or `x-`, and lags behind the RFCs. */
const moreTypes: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ["apk", "application/vnd.android.package-archive"],
  ["docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["eot", "application/vnd.ms-fontobject"],
  ["flac", "audio/flac"],
  ["ico", "image/vnd.microsoft.icon"],
  ["kml", "application/vnd.google-earth.kml+xml"],
  ["m3u8", "application/vnd.apple.mpegurl"],
  ["mkv", "video/matroska"],
  ["odp", "application/vnd.oasis.opendocument.presentation"],
  ["ods", "application/vnd.oasis.opendocument.spreadsheet"],
  ["odt", "application/vnd.oasis.opendocument.text"],
  ["pkpass", "application/vnd.apple.pkpass"],
  ["ppt", "application/vnd.ms-powerpoint"],
  ["pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
  ["rar", "application/vnd.rar"],
  ["usdz", "model/vnd.usdz+zip"],
  ["xls", "application/vnd.ms-excel"],
  ["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  ["zst", "application/zstd"],
]);

/** Media types by extension, in lower case and without the dot. */
export type ContentTypes = { readonly [extension: string]: string };

/**
 * The `Content-Type` of a file's name: the application's own, or that of a table; bytes where neither has one.
 * Text is UTF-8.
 */
export function contentTypeOf(name: string, own: ContentTypes): string {
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  if (Object.hasOwn(own, extension)) return own[extension] as string;
  const type: unknown = name.includes(".") ? (moreTypes.get(extension) ?? lookup(extension)) : undefined;
  // The table of `mrmime` is an object, which has a `constructor`.
  if (typeof type !== "string") return "application/octet-stream";
  return type.startsWith("text/") || otherTexts.has(type) ? `${type}; charset=utf-8` : type;
}

/** A content coding of which a compressed file may lie next to its file, in the order of preference. */
export type Encoding = "br" | "zstd" | "gzip";

/** The extension of each coding's file. */
export const encodings: readonly (readonly [encoding: Encoding, extension: string])[] = [
  ["br", ".br"],
  ["zstd", ".zst"],
  ["gzip", ".gz"],
];

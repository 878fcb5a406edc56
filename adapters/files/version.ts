/** A file as it is answered, wherever its bytes are. */
import type { Answer } from "../../src/doors/answers.ts";
import { preferredCoding } from "../../src/doors/codecs.ts";
import type { EntityTag } from "../../src/doors/codecs.ts";
import { contentDisposition, encodeHex } from "../../src/doors/http.ts";
import { ranged } from "../../src/representations/ranges.ts";
import type { ContentTypes, Encoding } from "./headers.ts";

/** How files are sent. */
export interface SentFileOptions {
  /** `Cache-Control`; `no-cache` by default: a client keeps the file, and asks whether it has changed. */
  readonly cacheControl?: string;
  /** `Content-Type` by extension, in lower case and without the dot; those of a table by default. */
  readonly types?: ContentTypes;
  /** Has a browser store the file and not show it: by its own name, or by this one. */
  readonly download?: boolean | string;
}

/** The options of `Files.answer`. */
export interface FileAnswerOptions extends SentFileOptions {
  /**
   * The file's `Content-Type`, whatever its name, as of an upload that is stored under an id. From a user it may be that of a page with
   * scripts: give `download`, too, or allow a few types only.
   */
  readonly contentType?: string;
}

/** The version of a file: it changes when the file is written or replaced. */
export interface FileVersion {
  /** Bytes. */
  readonly size: number;
  /** A strong tag, or a weak one where the bytes may change and the tag not (RFC 9110 §8.8.1). */
  readonly etag: string | EntityTag;
  /** Undefined where it is not known. */
  readonly modified: Date | undefined;
  /** The whole of it, where it is in memory. */
  readonly bytes: Uint8Array | undefined;
  /** Opens the bytes from `first` to `last`, both included. */
  read(first: number, last: number): AsyncIterable<Uint8Array>;
}

/** The tag of content that is in memory: 128 bits of its SHA-256, the same in every process. */
export async function tagOf(content: Uint8Array): Promise<string> {
  return encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", content as Uint8Array<ArrayBuffer>), 0, 16));
}

/** A file, and the compressed ones next to it. */
export interface StoredFile<Version extends FileVersion = FileVersion> {
  /** The last part of its path. */
  readonly name: string;
  readonly contentType: string;
  readonly plain: Version;
  readonly encoded: ReadonlyMap<Encoding, Version>;
  /** The keys of `encoded`. */
  readonly encodings: readonly Encoding[];
  /** Its answers by `Cache-Control` and coding: one is made for many requests. */
  readonly answers: Map<string, Map<Encoding | undefined, Answer>>;
}

/** What is at a path: a file, a directory, or nothing that could be sent. */
export type FoundFile = StoredFile | "directory" | undefined;

/**
 * The answer with a file, in the coding that the client prefers.
 *
 * @param options Those of the routes that found the file, always: `cacheControl` alone may differ.
 */
export function fileAnswer(
  file: StoredFile,
  acceptEncoding: string | undefined,
  cacheControl: string,
  options: SentFileOptions,
): Answer {
  const coding = preferredCoding(acceptEncoding, file.encodings);
  let answers = file.answers.get(cacheControl);
  if (answers === undefined) file.answers.set(cacheControl, (answers = new Map()));
  let answer = answers.get(coding);
  if (answer === undefined) {
    answer = answerOf(file, coding, cacheControl, options);
    // Every client gets this list.
    Object.freeze(answer.headers);
    answers.set(coding, answer);
  }
  return answer;
}

function answerOf(
  { name, contentType, plain, encoded }: StoredFile,
  coding: Encoding | undefined,
  cacheControl: string,
  { download = false }: SentFileOptions,
): Answer {
  const version = coding === undefined ? plain : (encoded.get(coding) as FileVersion);
  const headers: (readonly [string, string])[] = [["cache-control", cacheControl]];
  if (encoded.size > 0) headers.push(["vary", "Accept-Encoding"]);
  if (coding !== undefined) headers.push(["content-encoding", coding]);
  if (download !== false)
    headers.push(["content-disposition", contentDisposition(download === true ? name : download)]);
  const { bytes, size: length, etag, modified } = version;
  const content = bytes ?? { length, read: (first: number, last: number) => version.read(first, last) };
  return ranged(content, {
    headers,
    contentType,
    etag,
    ...(modified === undefined ? {} : { lastModified: modified }),
  });
}

import { unsupportedMediaType } from "../refusals/framework-codes.ts";
import type { Problem } from "../refusals/problem.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { Asked } from "./asked.ts";
import { BodyReader, wrongMax } from "./body-reader.ts";
import { contentTypeOf, isMultipart, noBoundary, unsupported } from "./content-type.ts";
import type { Dep } from "./dep.ts";
import { boundaryOf } from "./multipart/boundary.ts";
import { PartsReader } from "./multipart/parts.ts";
import type { Multipart } from "./multipart/parts.ts";

export interface MultipartOptions {
  /** Bytes the whole body may have; the app's `maxBody` does not bound it. */
  readonly max: number;
  /** Bytes the head of a part may have: 16,384. A longer one is 413. */
  readonly maxHead?: number;
}

/**
 * A multipart form, part by part as it arrives: for files too large to be held. Nothing is written to a file. Any
 * other `Content-Type`, or none, is a 415 before a byte is read.
 *
 * @example
 * ```ts
 * const store = post(Path.of("videos"), { inputs: { upload: multipart({ max: 1 << 30 }) }, returns: Returns.text },
 *   async ({ upload }) => {
 *     let bytes = 0;
 *     for await (const part of upload) {
 *       if (part.name === "video") for await (const piece of part) bytes += piece.byteLength;
 *     }
 *     return `${bytes} bytes`;
 *   });
 * ```
 */
export function multipart(options: MultipartOptions): Dep<Multipart, never, { body: FormData }> {
  const { max, maxHead = 16_384 } = options;
  return {
    node: {
      from: [],
      codes: [unsupportedMediaType],
      body: { as: "multipart", max, maxHead },
      before: () => checkMultipart,
      check: () => [...wrongMax(max), ...wrongMaxHead(maxHead)],
      compile: () => (asked) => {
        const boundary = boundaryOf(contentTypeOf(asked) ?? "");
        if (boundary === undefined) return noBoundary;
        const body = asked.openBody((source, holder) => new BodyReader(source, max, holder));
        return new PartsReader(body, boundary, maxHead);
      },
    },
  };
}

function wrongMaxHead(maxHead: number): readonly string[] {
  if (Number.isSafeInteger(maxHead) && maxHead > 0) return [];
  return [`reads parts with heads of at most ${maxHead} bytes, which is no number of bytes`];
}

function checkMultipart(asked: Asked): Refusal | Problem | undefined {
  const line = contentTypeOf(asked);
  if (line === undefined || !isMultipart(line)) return unsupported();
  return boundaryOf(line) === undefined ? noBoundary : undefined;
}

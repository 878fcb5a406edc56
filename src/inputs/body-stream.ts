import { unsupportedMediaType } from "../refusals/framework-codes.ts";
import { BodyReader, wrongMax } from "./body-reader.ts";
import type { Body } from "./body-reader.ts";
import { checkContentType, wrongContentTypes } from "./content-type.ts";
import type { Dep } from "./dep.ts";
import type { BodySent } from "./of-body.ts";

/** How a body is read as it arrives. */
export interface BodyStreamOptions {
  /** Bytes it may have; the app's `maxBody` does not bound it. */
  readonly max: number;
  /** `type/subtype`, `type/*` or `type/*+suffix`; any other, or none, is a 415 before a byte is read. */
  readonly contentTypes?: readonly string[];
}

/**
 * The body as it arrives, never held whole. It can be read only while the handler runs; what the handler leaves
 * unread is dropped.
 *
 * @example
 * ```ts
 * const upload = bodyStream({ max: 1 << 30, contentTypes: ["image/*"] });
 * const store = post(Path.of("images"), { inputs: { upload }, returns: Returns.text }, async ({ upload }) => {
 *   let bytes = 0;
 *   for await (const part of upload) bytes += part.byteLength;
 *   return `${bytes} bytes`;
 * });
 * ```
 */
export function bodyStream(options: BodyStreamOptions): Dep<Body, never, BodySent> {
  const { max, contentTypes } = options;
  return {
    node: {
      from: [],
      body: { as: "stream", max, ...(contentTypes === undefined ? {} : { contentTypes }) },
      ...(contentTypes === undefined
        ? {}
        : { codes: [unsupportedMediaType], before: () => (asked) => checkContentType(asked, contentTypes) }),
      check: () => [...wrongMax(max), ...wrongContentTypes(contentTypes)],
      compile: () => (asked) => asked.openBody((source, holder) => new BodyReader(source, max, holder)),
    },
  };
}

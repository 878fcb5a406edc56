const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The length of a text in UTF-8, for exchanges with no quicker way. */
export function byteLength(text: string): number {
  return encoder.encode(text).byteLength;
}

/** The text of bytes in UTF-8; undefined where they are none. */
export function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

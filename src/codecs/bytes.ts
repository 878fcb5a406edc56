/**
 * Whether a value is bytes: a `Uint8Array`, one of another realm (`vm`, Jest) too. What only inherits from `Uint8Array`
 * passes `instanceof`, and throws where its length is read.
 */
export function isBytes(value: unknown): value is Uint8Array {
  if (!ArrayBuffer.isView(value)) return false;
  return value instanceof Uint8Array || Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/**
 * Bytes that nobody else can change and every platform takes: a `Response` refuses those of a `SharedArrayBuffer` and of
 * an `ArrayBuffer` that can be resized (Web IDL), which are copied here.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  const { buffer } = bytes;
  const isPlain = buffer instanceof ArrayBuffer && (buffer as { readonly resizable?: boolean }).resizable !== true;
  return isPlain ? bytes : new Uint8Array(bytes);
}

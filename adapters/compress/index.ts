/** The entry `usher-http/compress`: compressed responses and bodies, on runtimes with `node:zlib`. */
export * as Compress from "./compress.ts";
export type { CompressOptions } from "./compress.ts";
export * as Decompress from "./decompress.ts";
export type { DecompressOptions } from "./decompress.ts";
export type { BodyDecoding } from "../../src/doors/inputs.ts";

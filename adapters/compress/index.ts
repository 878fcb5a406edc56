/** The entry `usher-http/compress`: compressed responses, on runtimes with `node:zlib`. */
export * as Compress from "./compress.ts";
export type { CompressOptions } from "./compress.ts";

/** The entry `usher-http/files`: files from disk, on runtimes with `node:fs`; from memory, and of a Worker's assets. */
export * as Files from "./files.ts";
export type {
  AssetsBinding,
  AssetsOptions,
  BundledFile,
  BundledFiles,
  DirectoryOptions,
  Fallback,
  FileAnswerOptions,
  ReadOptions,
} from "./files.ts";

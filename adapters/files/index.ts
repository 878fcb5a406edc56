/** The entry `usher-http/files`: files from disk, on runtimes with `node:fs`. */
export * as Files from "./files.ts";
export type { DirectoryOptions, FileAnswerOptions } from "./files.ts";

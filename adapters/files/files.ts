/** The namespace `Files`. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Answer } from "../../src/doors/answers.ts";
import { needsObject, needsOptions, needsText } from "../../src/arguments.ts";
import type { Route } from "../../src/doors/routing.ts";
import { checkOptions, fileRoutes, namedFiles, wellKnown } from "./routes.ts";
import type { DirectoryOptions } from "./routes.ts";
import { notDirectory } from "./read.ts";
import { FileStore, anywhere } from "./store.ts";
import { fileAnswer } from "./version.ts";
import type { FileAnswerOptions } from "./version.ts";

export { assets } from "./assets.ts";
export type { AssetsBinding, AssetsOptions } from "./assets.ts";
export { bundle } from "./bundle.ts";
export type { BundledFile, BundledFiles } from "./bundle.ts";
export { read } from "./read.ts";
export type { ReadOptions } from "./read.ts";
export type { DirectoryOptions, Fallback } from "./routes.ts";
export type { FileAnswerOptions } from "./version.ts";

/**
 * Routes that answer GET and HEAD with the files of a directory: with `ETag`, `Last-Modified`, `304`, ranges, and the compressed
 * files `.br`, `.zst` and `.gz` that lie next to them. A route of the application's own always comes first.
 *
 * Nothing outside of the directory is sent: `..`, encoded separators, symbolic links that lead out, and hidden files except `.well-known`
 * are a 404, also where a link leads to one.
 * A changed file is sent at most 100 ms later. Files up to 64 KiB are kept in memory, at most 16 MiB of a directory.
 *
 * @param root The directory, absolute or from the working directory.
 * @throws Error where it is not a directory, or a file that the options name is not in it.
 *
 * @example
 * ```ts
 * const files = Files.directory("dist", { index: "index.html", immutable: ["assets"] });
 * await serve([...api, ...files], { port: 8080 });
 * ```
 */
export function directory(root: string, options: DirectoryOptions = {}): readonly Route[] {
  needsText("Files.directory: root", root);
  checkOptions("Files.directory", options);
  const store = new FileStore(rootOf(root, options), options.types ?? {}, options.dotfiles ?? wellKnown);
  return fileRoutes(store, options);
}

/**
 * A file as an answer, as `Files.directory` sends it; undefined where there is no regular file at the path. The path is the
 * application's: do not make it of what a client sent.
 *
 * @example
 * ```ts
 * const invoice = get(
 *   Path.of("invoices", id),
 *   { inputs: { id: param(id) }, returns: Returns.response, refuses: [Refusal.notFound] },
 *   async ({ id }) => (await Files.answer(`invoices/${id}.pdf`, { download: `Invoice ${id}.pdf` })) ?? refuse(Refusal.notFound),
 * );
 * ```
 */
export async function answer(path: string, options: FileAnswerOptions = {}): Promise<Answer | undefined> {
  needsText("Files.answer: path", path);
  needsOptions("Files.answer", options, "cacheControl types contentType download");
  const { types = {}, contentType, cacheControl = "no-cache" } = options;
  needsObject("Files.answer: types", types);
  if (contentType !== undefined) needsText("Files.answer: contentType", contentType);
  const found = await new FileStore(anywhere, types).find([resolve(path)]);
  if (typeof found !== "object") return undefined;
  const file = contentType === undefined ? found : { ...found, contentType };
  return fileAnswer(file, undefined, cacheControl, options);
}

/** The root as an absolute path, once it and the files that the options name are there. */
function rootOf(root: string, options: DirectoryOptions): string {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) throw new Error(`Files.directory: ${notDirectory(root)}`);
  for (const [option, file] of namedFiles(options)) {
    const isFile = statSync(resolve(root, file), { throwIfNoEntry: false })?.isFile();
    if (isFile !== true) throw new Error(`Files.directory: ${option}: ${file} is not a file of ${root}`);
  }
  return resolve(root);
}

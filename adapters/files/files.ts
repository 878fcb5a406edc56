/** The namespace `Files`. */
import { realpathSync, statSync } from "node:fs";
import { parse, resolve } from "node:path";
import type { Answer } from "../../src/answers/answer.ts";
import { response } from "../../src/answers/returns.ts";
import { preferredCoding } from "../../src/codecs/negotiation.ts";
import { needs, needsObject, needsText, needsTexts } from "../../src/given.ts";
import { ofRequest } from "../../src/inputs/dep.ts";
import { Refusal, refuse } from "../../src/refusals.ts";
import { ranged } from "../../src/representations/ranges.ts";
import { param } from "../../src/routing/param.ts";
import * as Path from "../../src/routing/path.ts";
import { get } from "../../src/routing/route.ts";
import type { Route } from "../../src/routing/route.ts";
import { contentDisposition } from "./headers.ts";
import type { ContentTypes } from "./headers.ts";
import { FileStore, readFile } from "./store.ts";
import type { FileVersion, FoundFile, StoredFile } from "./store.ts";

/** How files are sent. */
export interface FileAnswerOptions {
  /** `Cache-Control`; `no-cache` by default: a client keeps the file, and asks whether it has changed. */
  readonly cacheControl?: string;
  /** `Content-Type` by extension, in lower case and without the dot; those of a table by default. */
  readonly types?: ContentTypes;
  /** Has a browser store the file and not show it: by its own name, or by this one. */
  readonly download?: boolean | string;
}

/** The options of {@link directory}. */
export interface DirectoryOptions extends FileAnswerOptions {
  /** The path of the directory's routes: `"assets"`, `"assets/v1"`. `/` by default. */
  readonly at?: string;
  /** The file that answers for a directory, as `index.html`. Without it a directory is a 404. */
  readonly index?: string;
  /**
   * The file that answers, with 200, where no file is found and the path has no extension: the page of a single-page app.
   */
  readonly fallback?: string;
  /** The file that answers, with 404, where no file is found. */
  readonly notFound?: string;
  /** Whether files and folders whose names begin with a dot are sent. */
  readonly dotfiles?: boolean;
  /**
   * Folders whose files never change, because each name has a hash of its content: `["_astro"]`. They are kept for a year:
   * `public, max-age=31536000, immutable`.
   */
  readonly immutable?: readonly string[];
}

/**
 * Routes that answer GET and HEAD with the files of a directory: with `ETag`, `Last-Modified`, `304`, ranges, and the compressed
 * files `.br`, `.zst` and `.gz` that lie next to them. A route of the application's own always comes first.
 *
 * Nothing outside of the directory is sent: `..`, encoded separators, symbolic links that lead out, and hidden files are a 404.
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
  const { at = "", index, fallback, notFound, dotfiles = false, immutable = [], types = {} } = checked(root, options);
  const store = new FileStore(rootOf(root, { index: undefined, fallback, notFound }), types);
  const folders = immutable.map((folder) => segmentsOf(folder));
  const isImmutable = (names: readonly string[]) =>
    folders.some((folder) => names.length > folder.length && folder.every((name, i) => name === names[i]));

  const answerFound = (found: StoredFile, encoding: string | undefined, names: readonly string[]): Answer =>
    fileAnswer(found, encoding, {
      ...options,
      ...(isImmutable(names) ? { cacheControl: "public, max-age=31536000, immutable" } : {}),
    });
  const findIn = (names: readonly string[]): FoundFile | Promise<FoundFile> => {
    if (!names.every((name) => isSafe(name, dotfiles))) return undefined;
    return orIndex(store.find(names), () => (index === undefined ? undefined : store.find([...names, index])));
  };
  const answerMissing = async (
    names: readonly string[],
    encoding: string | undefined,
  ): Promise<Answer | Refusal<"not_found">> => {
    // A script that is not there is no page, and a hostile path neither.
    const isPage = names.every((name) => isSafe(name, dotfiles)) && names.at(-1)?.includes(".") !== true;
    const name = isPage ? (fallback ?? notFound) : notFound;
    const found = name === undefined ? undefined : await store.find(segmentsOf(name));
    if (found === undefined || found === "directory") return refuse(Refusal.notFound);
    const answer = fileAnswer(found, encoding, options);
    return name === fallback ? answer : plainNotFound(answer);
  };

  const prefix = segmentsOf(at);
  const rest = Path.rest("file");
  const acceptEncoding = ofRequest((request) => request.header("accept-encoding"), {
    needs: [{ in: "header", name: "Accept-Encoding" }],
  });
  const declared = { returns: response, refuses: [Refusal.notFound] } as const;
  return [
    get(Path.of(...prefix, rest), { ...declared, inputs: { names: param(rest), acceptEncoding } }, (inputs) => {
      const { names, acceptEncoding } = inputs;
      const found = findIn(names);
      if (!(found instanceof Promise) && typeof found === "object") return answerFound(found, acceptEncoding, names);
      return Promise.resolve(found).then((found) =>
        typeof found === "object" ? answerFound(found, acceptEncoding, names) : answerMissing(names, acceptEncoding),
      );
    }),
  ];
}

/**
 * A file as an answer, as {@link directory} sends it; undefined where there is no regular file at the path. The path is the
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
  needsObject("Files.answer: options", options);
  if (options.types !== undefined) needsObject("Files.answer: types", options.types);
  const absolute = resolve(path);
  const { root } = parse(absolute);
  const found = await new FileStore(root, options.types ?? {}).find([absolute.slice(root.length)]);
  return typeof found === "object" ? fileAnswer(found, undefined, options) : undefined;
}

function checked(root: string, options: DirectoryOptions): DirectoryOptions {
  needsText("Files.directory: root", root);
  needsObject("Files.directory: options", options);
  for (const name of ["at", "index", "fallback", "notFound", "cacheControl"] as const) {
    if (options[name] !== undefined) needsText(`Files.directory: ${name}`, options[name]);
  }
  if (options.immutable !== undefined) needsTexts("Files.directory: immutable", options.immutable);
  if (options.types !== undefined) needsObject("Files.directory: types", options.types);
  const { fallback, notFound } = options;
  needs(fallback === undefined || notFound === undefined, "Files.directory: notFound", notFound, "set with a fallback");
  return options;
}

/** The root without symbolic links, once it and the files that the options name are there. */
function rootOf(root: string, files: { readonly [option: string]: string | undefined }): string {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) throw new Error(`Files.directory: ${root} is not a directory`);
  for (const [option, file] of Object.entries(files)) {
    if (file === undefined) continue;
    const isFile = statSync(resolve(root, file), { throwIfNoEntry: false })?.isFile();
    if (isFile !== true) throw new Error(`Files.directory: ${option}: ${file} is not a file of ${root}`);
  }
  return realpathSync(root);
}

function segmentsOf(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "");
}

const isWindows = process.platform === "win32";

/**
 * Whether a segment that a client sent is the name of one file or folder. On Windows a colon names a stream or a drive, and dots
 * and blanks at the end are dropped.
 */
function isSafe(name: string, dotfiles: boolean): boolean {
  if (name === "" || name === "." || name === ".." || /[/\\\0]/.test(name)) return false;
  if (isWindows && /[:<>"|?*]|[. ]$/.test(name)) return false;
  return dotfiles || !name.startsWith(".");
}

function orIndex(
  found: FoundFile | Promise<FoundFile>,
  index: () => FoundFile | Promise<FoundFile>,
): FoundFile | Promise<FoundFile> {
  if (found instanceof Promise) return found.then((found) => (found === "directory" ? index() : found));
  return found === "directory" ? index() : found;
}

function plainNotFound({ contentType, headers, cookies, body, closes }: Answer): Answer {
  const kept = headers.filter(([name]) => !["etag", "last-modified", "accept-ranges"].includes(name));
  return { status: 404, ...(contentType === undefined ? {} : { contentType }), headers: kept, cookies, body, closes };
}

function fileAnswer(file: StoredFile, acceptEncoding: string | undefined, options: FileAnswerOptions): Answer {
  const { plain, contentType, encoded } = file;
  const encoding = preferredCoding(acceptEncoding, [...encoded.keys()]);
  const version = encoding === undefined ? plain : (encoded.get(encoding) as FileVersion);
  const headers: (readonly [string, string])[] = [["cache-control", options.cacheControl ?? "no-cache"]];
  if (encoded.size > 0) headers.push(["vary", "Accept-Encoding"]);
  if (encoding !== undefined) headers.push(["content-encoding", encoding]);
  const { download = false } = options;
  if (download !== false)
    headers.push(["content-disposition", contentDisposition(download === true ? plain.path : download)]);
  const read = (first: number, last: number) => readFile(version, first, last);
  const content = version.bytes ?? { length: version.size, read };
  // Two codings of one file may have the same length and time.
  const etag = encoding === undefined ? version.etag : `${version.etag}-${encoding}`;
  return ranged(content, { headers, contentType, etag, lastModified: version.modified });
}

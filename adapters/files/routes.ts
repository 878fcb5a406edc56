/** The routes of a directory, wherever its files are: on a disk or in memory. */
import type { Answer } from "../../src/doors/answers.ts";
import { response } from "../../src/doors/answers.ts";
import { isObject, kindOf, needs, needsObject, needsOptions, needsText, needsTexts } from "../../src/arguments.ts";
import { ofRequest } from "../../src/doors/inputs.ts";
import { Refusal, refuse } from "../../src/refusals.ts";
import { param, get, restWithEmpty } from "../../src/doors/routing.ts";
import * as Path from "../../src/routing/path.ts";
import type { Route } from "../../src/doors/routing.ts";
import { fileAnswer } from "./version.ts";
import type { SentFileOptions, FoundFile, StoredFile } from "./version.ts";

/** The options of `Files.directory` and `Files.bundle`. */
export interface DirectoryOptions extends SentFileOptions {
  /** The path of the directory's routes: `"assets"`, `"assets/v1"`. `/` by default. */
  readonly at?: string;
  /** The file that answers for a directory, as `index.html`. Without it a directory is a 404. */
  readonly index?: string;
  /**
   * The file that answers, with 200, where no file is found: the page of a single-page app. A path whose last part has an
   * extension does not get it, so that a missing script is no page; one slash at the end of a path does not count. With `under`,
   * it is for all paths in these folders, and for no others. With `except`, it is for no path in these folders.
   */
  readonly fallback?: string | Fallback;
  /** The file that answers, with 404, where no file is found, also for a path that ends with a slash. */
  readonly notFound?: string;
  /**
   * The names of hidden files and folders that are sent: names that begin with a dot. `[".well-known"]` by default (RFC 8615); with
   * `[".well-known", ".htm"]` also each file and folder of the name `.htm`, wherever it is. With `[]` none is sent.
   */
  readonly dotfiles?: readonly string[];
  /**
   * Folders whose files never change, because each name has a hash of its content: `["_astro"]`. They are kept for a year:
   * `public, max-age=31536000, immutable`.
   */
  readonly immutable?: readonly string[];
}

/** The page of a single-page app, and the folders whose paths it answers for: `under`, `except`, or both. */
export interface Fallback {
  /** The page's file: `"app/index.html"`. */
  readonly file: string;
  /** Folders: with `["orders"]` it answers for `/orders` and `/orders/7`, and not for `/ordersheet`. */
  readonly under?: readonly string[];
  /**
   * Folders of something else: with `["api"]` a missing path there is the app's 404 `not_found`, and neither this page nor
   * `notFound`.
   */
  readonly except?: readonly string[];
}

/** Where the files are. */
export interface FileSource {
  /** What is at a path; each name is one that `isName` holds for. */
  find(names: readonly string[]): FoundFile | Promise<FoundFile>;
  /** Whether a segment is the name of one file or folder, where the source has more rules than {@link isSafe}. */
  isName?(segment: string): boolean;
}

/** The routes of a directory. Its options are checked by {@link checkOptions}. */
export function fileRoutes(source: FileSource, options: DirectoryOptions): readonly Route[] {
  const files = new DirectoryFiles(source, options);
  const rest = restWithEmpty("file");
  const acceptEncoding = ofRequest((request) => request.header("accept-encoding"), {
    needs: [{ in: "header", name: "Accept-Encoding" }],
  });
  const declared = { returns: response, refuses: [Refusal.notFound] } as const;
  return [
    get(
      Path.of(...segmentsOf(options.at ?? ""), rest),
      { ...declared, inputs: { names: param(rest), acceptEncoding } },
      ({ names, acceptEncoding }) => files.answer(names, acceptEncoding),
    ),
  ];
}

type FileResult = Answer | Refusal<"not_found">;

const noCache = "no-cache";

class DirectoryFiles {
  readonly #source: FileSource;
  readonly #options: DirectoryOptions;
  readonly #immutable: readonly (readonly string[])[];
  readonly #fallback: { readonly file: string; readonly under: readonly (readonly string[])[] | undefined } | undefined;
  readonly #except: readonly (readonly string[])[] = [];

  constructor(source: FileSource, options: DirectoryOptions) {
    const { immutable = [], fallback } = options;
    this.#source = source;
    this.#options = options;
    this.#immutable = immutable.map(segmentsOf);
    if (fallback === undefined) return;
    const { file, under, except = [] }: Fallback = typeof fallback === "string" ? { file: fallback } : fallback;
    this.#fallback = { file, under: under?.map(segmentsOf) };
    this.#except = except.map(segmentsOf);
  }

  /** No promise for a file that is known. */
  answer(names: readonly string[], acceptEncoding: string | undefined): FileResult | Promise<FileResult> {
    const found = this.#find(names);
    if (found instanceof Promise) return found.then((found) => this.#answerOf(found, names, acceptEncoding));
    return this.#answerOf(found, names, acceptEncoding);
  }

  #answerOf(found: FoundFile, names: readonly string[], acceptEncoding: string | undefined) {
    return typeof found === "object"
      ? fileAnswer(found, acceptEncoding, this.#cacheControlOf(names), this.#options)
      : this.#missing(names, acceptEncoding);
  }

  #cacheControlOf(names: readonly string[]): string {
    return isImmutable(names, this.#immutable) ? immutableField : (this.#options.cacheControl ?? noCache);
  }

  #find(names: readonly string[]): FoundFile | Promise<FoundFile> {
    const { index } = this.#options;
    if (!this.#areSafe(names)) return undefined;
    const orIndex = (found: FoundFile) => {
      return found === "directory" && index !== undefined ? this.#source.find([...names, index]) : found;
    };
    const found = this.#source.find(names);
    return found instanceof Promise ? found.then(orIndex) : orIndex(found);
  }

  async #missing(names: readonly string[], acceptEncoding: string | undefined): Promise<FileResult> {
    const { notFound, cacheControl = noCache } = this.#options;
    if (this.#except.some((folder) => isUnder(names, folder))) return refuse(Refusal.notFound);
    const page = this.#isPage(names) ? this.#fallback?.file : undefined;
    const found = await this.#named(page ?? notFound);
    if (found === undefined) return refuse(Refusal.notFound);
    const answer = fileAnswer(found, acceptEncoding, cacheControl, this.#options);
    return page === undefined ? plainNotFound(answer) : answer;
  }

  /** Whether the fallback answers for a path without a file. */
  #isPage(names: readonly string[]): boolean {
    const under = this.#fallback?.under;
    const named = withoutSlash(names);
    // A script that is not there is no page, and a hostile path neither.
    if (!this.#areSafe(named)) return false;
    return under === undefined ? named.at(-1)?.includes(".") !== true : under.some((folder) => isUnder(named, folder));
  }

  async #named(file: string | undefined): Promise<StoredFile | undefined> {
    const found = file === undefined ? undefined : await this.#source.find(segmentsOf(file));
    return typeof found === "object" ? found : undefined;
  }

  #areSafe(names: readonly string[]): boolean {
    const { dotfiles = wellKnown } = this.#options;
    return names.every((name) => isSafe(name, dotfiles) && this.#source.isName?.(name) !== false);
  }
}

/** The names of a path without those of one slash at its end. */
export function withoutSlash(names: readonly string[]): readonly string[] {
  return names.at(-1) === "" ? names.slice(0, -1) : names;
}

/** The names of a path's folders and file. */
export function segmentsOf(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/** The hidden names that are sent unless the application lists others. */
export const wellKnown: readonly string[] = [".well-known"];

/** Whether a segment that a client sent is the name of one file or folder, which is sent. */
export function isSafe(name: string, dotfiles: readonly string[]): boolean {
  return isName(name) && (!name.startsWith(".") || dotfiles.includes(name));
}

/** Whether a text is the name of one file or folder. */
export function isName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !/[/\\\0]/.test(name);
}

const devices = /^(?:con(?:in\$|out\$)?|prn|aux|nul|(?:com|lpt)[\d¹²³]) *(?:\.|$)/i;
/** The short name that a file system may give a file: `ENV~1` leads to `.env`. */
const shortName = /^[^.]{1,6}~\d+(?:\.[^.]{0,3})?$/;

/**
 * Whether a segment is the name of one file on Windows, and no other name of one: a colon names a stream or a drive, dots and blanks
 * at the end are dropped, and a device is in every folder.
 */
export function isWindowsName(segment: string): boolean {
  return !/[:<>"|?*]|[. ]$/.test(segment) && !devices.test(segment) && !shortName.test(segment);
}

/** `Cache-Control` of what never changes. */
export const immutableField = "public, max-age=31536000, immutable";

/** Whether a path is in one of the folders whose files never change. */
export function isImmutable(names: readonly string[], folders: readonly (readonly string[])[]): boolean {
  return folders.some((folder) => names.length > folder.length && isUnder(names, folder));
}

function isUnder(names: readonly string[], folder: readonly string[]): boolean {
  return folder.every((name, i) => name === names[i]);
}

function plainNotFound({ contentType, headers, cookies, body, closes }: Answer): Answer {
  const kept = headers.filter(([name]) => !["etag", "last-modified", "accept-ranges"].includes(name));
  return { status: 404, ...(contentType === undefined ? {} : { contentType }), headers: kept, cookies, body, closes };
}

/** Checks what JavaScript can get wrong. @param caller As `Files.directory`. */
export function checkOptions(caller: string, options: DirectoryOptions): void {
  needsOptions(caller, options, "at index fallback notFound dotfiles immutable cacheControl types download");
  for (const name of ["at", "index", "notFound", "cacheControl"] as const) {
    if (options[name] !== undefined) needsText(`${caller}: ${name}`, options[name]);
  }
  checkFallback(caller, options.fallback);
  if (options.immutable !== undefined) needsTexts(`${caller}: immutable`, options.immutable);
  if (options.types !== undefined) needsObject(`${caller}: types`, options.types);
  checkDotfiles(caller, options.dotfiles);
  const { download = false } = options;
  needs(typeof download === "boolean" || typeof download === "string", `${caller}: download`, download, "a text");
}

/** @param caller As `Files.directory`. */
export function checkDotfiles(caller: string, dotfiles: readonly string[] | undefined): void {
  if (dotfiles === undefined) return;
  needsTexts(`${caller}: dotfiles`, dotfiles);
  const other = dotfiles.find((name) => !name.startsWith(".") || !isName(name));
  if (other === undefined) return;
  throw new TypeError(
    `${caller}: dotfiles: ${JSON.stringify(other)} is not the name of a hidden file or folder: it begins with a dot, and has no /`,
  );
}

function checkFallback(caller: string, fallback: unknown): void {
  if (fallback === undefined || typeof fallback === "string") return;
  if (!isObject(fallback)) throw new TypeError(`${caller}: fallback is ${kindOf(fallback)}, and not a text`);
  needsText(`${caller}: fallback.file`, fallback["file"]);
  const { under, except } = fallback;
  if (except !== undefined) needsTexts(`${caller}: fallback.except`, except);
  if (except === undefined || under !== undefined) needsTexts(`${caller}: fallback.under`, under);
}

/** The files that the options name, each with its option. */
export function namedFiles({ fallback, notFound }: DirectoryOptions): readonly (readonly [string, string])[] {
  const page = typeof fallback === "object" ? fallback.file : fallback;
  return Object.entries({ fallback: page, notFound }).flatMap(([option, file]) =>
    file === undefined ? [] : [[option, file] as const],
  );
}

/** A folder as files in memory. */
import { readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { needs, needsOptions, needsText } from "../../src/arguments.ts";
import { counted } from "../../src/counted.ts";
import type { BundledFiles } from "./bundle.ts";
import { leadsToHidden, namesBelow } from "./links.ts";
import { checkDotfiles, wellKnown } from "./routes.ts";

/** What is wrong with a folder; of a relative path also where it was looked for. */
export function notDirectory(root: string): string {
  const sentence = `${root} is not a directory`;
  return isAbsolute(root) ? sentence : `${sentence}: it is read as ${resolve(root)}`;
}

/** The options of `Files.read`. */
export interface ReadOptions {
  /** The names of hidden files and folders that are read, as of {@link DirectoryOptions}. */
  readonly dotfiles?: readonly string[];
  /** What all files together may have, in bytes; 32 MiB by default. */
  readonly maxBytes?: number;
}

/**
 * Reads a folder into memory, for `Files.bundle`: at a build, or once when a program starts. Hidden files are left out, except
 * `.well-known`, as `Files.directory` does not send them.
 *
 * @throws Error where it is not a folder, for a symbolic link that leads out of it, to a hidden file or in a circle, and for more than
 *   `maxBytes`.
 *
 * @example
 * ```ts
 * const files = Files.bundle(Files.read("dist"), { index: "index.html" });
 * ```
 */
export function read(root: string, options: ReadOptions = {}): BundledFiles {
  needsText("Files.read: root", root);
  needsOptions("Files.read", options, "dotfiles maxBytes");
  const { dotfiles = wellKnown, maxBytes = 32 * 1024 * 1024 } = options;
  checkDotfiles("Files.read", dotfiles);
  needs(Number.isSafeInteger(maxBytes) && maxBytes >= 0, "Files.read: maxBytes", maxBytes, "a whole number of bytes");
  const isFolder = statSync(root, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) throw new Error(`Files.read: ${notDirectory(root)}`);
  const reader = new FolderReader(realpathSync(root), dotfiles, maxBytes);
  reader.folder([], []);
  return Object.fromEntries(reader.files);
}

class FolderReader {
  readonly files: (readonly [path: string, content: Uint8Array])[] = [];
  readonly #root: string;
  readonly #dotfiles: readonly string[];
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(root: string, dotfiles: readonly string[], maxBytes: number) {
    this.#root = root;
    this.#dotfiles = dotfiles;
    this.#maxBytes = maxBytes;
  }

  /** @param above The folders that it is in, without symbolic links. */
  folder(names: readonly string[], above: readonly string[]): void {
    const real = this.#real(names);
    if (above.includes(real)) throw new Error(`Files.read: ${names.join("/")} leads in a circle`);
    // In one order on every machine: what is made of it can be compared.
    for (const name of readdirSync(real).toSorted()) {
      if (name.startsWith(".") && !this.#dotfiles.includes(name)) continue;
      const path = [...names, name];
      const stats = statSync(this.#real(path));
      if (stats.isDirectory()) this.folder(path, [...above, real]);
      else if (stats.isFile()) this.#file(path, stats.size);
    }
  }

  #file(names: readonly string[], size: number): void {
    const path = names.join("/");
    this.#bytes += size;
    if (this.#bytes > this.#maxBytes) {
      throw new Error(
        `Files.read: ${path} is past the ${counted(this.#maxBytes, "byte")} of maxBytes: serve the folder by Files.directory`,
      );
    }
    this.files.push([path, new Uint8Array(readFileSync(this.#real(names)))]);
  }

  #real(names: readonly string[]): string {
    const path = names.join("/");
    const real = realOrThrow(join(this.#root, ...names), path);
    const below = namesBelow(this.#root, real);
    if (below === undefined) throw new Error(`Files.read: ${path} is a symbolic link that leads out of the folder`);
    if (leadsToHidden(below, this.#dotfiles)) {
      throw new Error(
        `Files.read: ${path} is a symbolic link to a hidden file: list its name in dotfiles, or remove the link`,
      );
    }
    return real;
  }
}

function realOrThrow(path: string, shown: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw new Error(`Files.read: ${shown} is a symbolic link that leads nowhere`);
  }
}

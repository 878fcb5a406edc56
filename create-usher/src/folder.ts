import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** A project's folder and the name of its package. */
export interface Place {
  readonly folder: string;
  readonly name: string;
}

/** Names that npm does not install a package under, or that would be in the way of the project's own imports. */
const takenNames = new Set([
  "node_modules",
  "favicon.ico",
  "usher-http",
  "valibot",
  "postgres",
  "typescript",
  "wrangler",
]);

/** Where a project goes. `@scope/my-api` is the name of a package, in the folder `my-api`. */
export function placeOf(given: string, from: string): Place | { readonly error: string } {
  if (/[\0-\x1f\x7f]/.test(given)) return { error: "The folder's name has a control character." };
  const [, scope = "", path = given] = /^(@[a-z0-9~-][a-z0-9._~-]*\/)([^/\\]+)$/.exec(given.trim()) ?? [];
  const folder = resolve(from, path.trim());
  const name = `${scope}${nameOf(basename(folder))}`;
  if (name === scope) {
    return { error: `No package name can be made of ${JSON.stringify(given)}: use letters, digits and hyphens.` };
  }
  if (takenNames.has(name)) return { error: `${JSON.stringify(name)} is the name of a package that the project uses.` };
  return { folder, name };
}

/** npm's rules: lower case, no leading dot or underscore, at most 214 characters. */
function nameOf(folder: string): string {
  const name = folder.toLowerCase().replace(/[^a-z0-9._~-]+/g, "-");
  return name.replace(/^[._~-]+|[-]+$/g, "").slice(0, 200);
}

/** Why nothing can be written into a folder; undefined if it is empty or does not exist. */
export function obstacleIn(folder: string): string | undefined {
  try {
    // `git clone` of an empty repository leaves this.
    const found = readdirSync(folder).filter((name) => name !== ".git");
    return found.length === 0 ? undefined : `${folder} is not empty: choose another folder.`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    return code === "ENOTDIR" ? `${fileIn(folder)} is a file: choose another folder.` : `${folder}: ${code}`;
  }
}

/** The part of a path that is a file. */
function fileIn(folder: string): string {
  const parent = dirname(folder);
  return parent === folder || statSync(parent, { throwIfNoEntry: false })?.isDirectory() === true
    ? folder
    : fileIn(parent);
}

/** Writes files, and never over one. */
export function write(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    const file = join(folder, path);
    makeFolder(dirname(file));
    writeFileSync(file, text, { flag: "wx" });
  }
}

/** Not by the option `recursive`: Node, to version 26, never returns from it in `/proc`. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  mkdirSync(folder);
}

/** A directory in memory. */
import { isObject, kindOf, needsObject } from "../../src/arguments.ts";
import { isBytes } from "../../src/doors/http.ts";
import type { Route } from "../../src/doors/routing.ts";
import { contentTypeOf, encodings } from "./headers.ts";
import type { ContentTypes, Encoding } from "./headers.ts";
import { checkOptions, fileRoutes, isName, namedFiles, segmentsOf } from "./routes.ts";
import type { DirectoryOptions, FileSource } from "./routes.ts";
import { tagOf } from "./version.ts";
import type { FileVersion, FoundFile, StoredFile } from "./version.ts";

/** The content of a file in memory: a text is UTF-8. */
export type BundledFile = string | Uint8Array | ArrayBuffer | { readonly base64: string };

/** Files in memory by their paths, which have no slash at the beginning: `{ "about/index.html": "<!doctype html>…" }`. */
export interface BundledFiles {
  readonly [path: string]: BundledFile;
}

/**
 * The routes of `Files.directory` for files in memory, with the same options and rules: for a single executable, or a Worker.
 * `usher bundle dist` and `Files.read` make the files of a folder.
 *
 * The tag of a file is a hash of its content (SHA-256, 128 bits of it), and there is no `Last-Modified`. A file is decoded and
 * hashed when it is first asked for.
 *
 * @throws Error for a content that is neither text, bytes nor base64, and for a path that no client can ask for. It also throws
 *   where a file that the options name is missing.
 *
 * @example
 * ```ts
 * import { site } from "./site.ts"; // npx usher-http bundle dist -o site.ts
 *
 * const files = Files.bundle(site, { index: "index.html", immutable: ["assets"] });
 * await serve([...api, ...files], { port: 8080 });
 * ```
 */
export function bundle(files: BundledFiles, options: DirectoryOptions = {}): readonly Route[] {
  needsObject("Files.bundle: files", files);
  checkOptions("Files.bundle", options);
  const store = new MemoryStore(files, options.types ?? {});
  for (const [option, file] of namedFiles(options)) {
    if (!store.has(file)) throw new Error(`Files.bundle: ${option}: ${file} is not one of the files`);
  }
  return fileRoutes(store, options);
}

class MemoryStore implements FileSource {
  readonly #types: ContentTypes;
  readonly #contents = new Map<string, BundledFile>();
  readonly #folders = new Set<string>([""]);
  readonly #stored = new Map<string, StoredFile | Promise<StoredFile>>();

  constructor(files: BundledFiles, types: ContentTypes) {
    this.#types = types;
    for (const [path, content] of Object.entries(files)) {
      const names = path.split("/");
      const at = `Files.bundle: the file ${JSON.stringify(path)}`;
      if (!names.every((name) => isName(name))) throw new TypeError(`${at}: a path is names with / between them`);
      checkContent(at, content);
      this.#contents.set(path, content);
      for (let length = 1; length < names.length; length++) this.#folders.add(names.slice(0, length).join("/"));
    }
  }

  has(file: string): boolean {
    return this.#contents.has(segmentsOf(file).join("/"));
  }

  find(names: readonly string[]): FoundFile | Promise<FoundFile> {
    const path = names.join("/");
    const stored = this.#stored.get(path);
    if (stored !== undefined) return stored;
    const content = this.#contents.get(path);
    if (content === undefined) return this.#folders.has(path) ? "directory" : undefined;
    const loading = this.#load(path, content);
    this.#stored.set(path, loading);
    return loading;
  }

  async #load(path: string, content: BundledFile): Promise<StoredFile> {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const encoded = new Map<Encoding, FileVersion>();
    for (const [encoding, extension] of encodings) {
      const sibling = this.#contents.get(path + extension);
      if (sibling !== undefined) encoded.set(encoding, await versionOf(sibling));
    }
    const file: StoredFile = {
      name,
      contentType: contentTypeOf(name, this.#types),
      plain: await versionOf(content),
      encoded,
      encodings: [...encoded.keys()],
      answers: new Map(),
    };
    this.#stored.set(path, file);
    return file;
  }
}

function checkContent(at: string, content: unknown): void {
  if (typeof content === "string" || isBytes(content) || content instanceof ArrayBuffer) return;
  const base64 = isObject(content) ? content["base64"] : undefined;
  if (typeof base64 !== "string") {
    throw new TypeError(`${at} is ${kindOf(content)}, and not text, bytes, or an object with \`base64\``);
  }
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    throw new TypeError(`${at} is not base64`);
  }
}

const encoder = /* @__PURE__ */ new TextEncoder();

async function versionOf(content: BundledFile): Promise<FileVersion> {
  const bytes = bytesOf(content);
  return { size: bytes.byteLength, etag: await tagOf(bytes), modified: undefined, bytes, read: unread };
}

function bytesOf(content: BundledFile): Uint8Array {
  if (typeof content === "string") return encoder.encode(content);
  if (isBytes(content)) return content;
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  return Uint8Array.from(atob(content.base64), (sign) => sign.charCodeAt(0));
}

/** Not called: the bytes are there. */
async function* unread(): AsyncGenerator<Uint8Array> {}

/** The files of one directory, read by names that a client chose. */
import { constants } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { contentTypeOf, encodings } from "./headers.ts";
import type { ContentTypes, Encoding } from "./headers.ts";

/** The version of a file: it changes when the file is written or replaced. */
export interface FileVersion {
  /** Without symbolic links. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly etag: string;
  readonly modified: Date;
  /** The whole of a small file. */
  readonly bytes: Uint8Array | undefined;
}

/** A file, and the compressed ones next to it. */
export interface StoredFile {
  readonly plain: FileVersion;
  readonly contentType: string;
  readonly encoded: ReadonlyMap<Encoding, FileVersion>;
  /** By a monotonic clock. */
  readonly checkedAt: number;
}

/** What is at a path: a file, a directory, or nothing that could be sent. */
export type FoundFile = StoredFile | "directory" | undefined;

/** A file of at most this is kept in memory. A larger one is read while it is sent. */
const maxKeptFile = 64 * 1024;
/** What is kept in memory at most, of one directory. */
const maxKept = 16 * 1024 * 1024;
/** A version is kept of as many files, also of those that are not. */
const maxFiles = 4096;
/** For so long a file is sent as it was when it was last looked at. */
const freshMs = 100;

export class FileStore {
  readonly #root: string;
  readonly #types: ContentTypes;
  /** The one that was used least recently first. */
  readonly #kept = new Map<string, StoredFile>();
  #keptBytes = 0;
  readonly #loading = new Map<string, Promise<FoundFile>>();

  /** @param root An absolute path without symbolic links. */
  constructor(root: string, types: ContentTypes) {
    this.#root = root;
    this.#types = types;
  }

  /** What is at a path below the root; at once where it was looked at just before. */
  find(names: readonly string[]): FoundFile | Promise<FoundFile> {
    const path = join(this.#root, ...names);
    const kept = this.#kept.get(path);
    if (kept !== undefined && performance.now() - kept.checkedAt < freshMs) return kept;
    const loading = this.#loading.get(path);
    if (loading !== undefined) return loading;
    const found = this.#load(path, kept).finally(() => this.#loading.delete(path));
    this.#loading.set(path, found);
    return found;
  }

  async #load(path: string, kept: StoredFile | undefined): Promise<FoundFile> {
    const checkedAt = performance.now();
    const plain = await this.#version(path, kept?.plain);
    this.#drop(path);
    if (plain === undefined || plain === "directory") return plain;
    const encoded = new Map<Encoding, FileVersion>();
    for (const [encoding, extension] of encodings) {
      const sibling = await this.#version(path + extension, kept?.encoded.get(encoding));
      if (sibling !== undefined && sibling !== "directory") encoded.set(encoding, sibling);
    }
    const file = { plain, contentType: contentTypeOf(basename(path), this.#types), encoded, checkedAt };
    this.#keep(path, file);
    return file;
  }

  /** The version of a regular file inside of the root, with the bytes that are known of the same version. */
  async #version(path: string, known: FileVersion | undefined): Promise<FileVersion | "directory" | undefined> {
    if (path.includes("\0")) return undefined;
    const real = await existing(realpath(path));
    if (real === undefined || !this.#isInside(real)) return undefined;
    const found = await existing(stat(real, { bigint: true }));
    if (found === undefined) return undefined;
    if (found.isDirectory()) return "directory";
    if (!found.isFile()) return undefined;
    const size = Number(found.size);
    const etag = `${size.toString(16)}-${found.mtimeNs.toString(16)}`;
    if (known !== undefined && known.path === real && known.etag === etag) return known;
    const version: FileVersion = { path: real, size, etag, modified: found.mtime, bytes: undefined };
    return size > maxKeptFile ? version : withBytes(version);
  }

  #isInside(real: string): boolean {
    return real === this.#root || real.startsWith(this.#root.endsWith(sep) ? this.#root : this.#root + sep);
  }

  #keep(path: string, file: StoredFile): void {
    this.#kept.set(path, file);
    this.#keptBytes += keptBytesOf(file);
    for (const oldest of this.#kept.keys()) {
      if (this.#keptBytes <= maxKept && this.#kept.size <= maxFiles) return;
      this.#drop(oldest);
    }
  }

  #drop(path: string): void {
    const file = this.#kept.get(path);
    if (file === undefined) return;
    this.#kept.delete(path);
    this.#keptBytes -= keptBytesOf(file);
  }
}

function keptBytesOf({ plain, encoded }: StoredFile): number {
  return [plain, ...encoded.values()].reduce((sum, { bytes }) => sum + (bytes?.byteLength ?? 0), 0);
}

const absent: ReadonlySet<unknown> = new Set([
  "ENOENT",
  "ENOTDIR",
  "ELOOP",
  "ENAMETOOLONG",
  "EACCES",
  "EPERM",
  "EINVAL",
]);

/** Undefined where the path leads nowhere. Any other failure, as too many open files, is the server's. */
async function existing<A>(found: Promise<A>): Promise<A | undefined> {
  try {
    return await found;
  } catch (thrown) {
    if (absent.has((thrown as NodeJS.ErrnoException).code)) return undefined;
    throw thrown;
  }
}

// Where a path became a link since, it is not followed; where it became a pipe, opening it does not wait.
const openFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function withBytes(version: FileVersion): Promise<FileVersion | undefined> {
  const handle = await existing(open(version.path, openFlags));
  if (handle === undefined) return undefined;
  try {
    const bytes = new Uint8Array(version.size);
    const read = await readFully(handle, bytes, 0);
    // A file that is being written now is read when it is sent.
    return read === version.size && (await isSame(handle, version)) ? { ...version, bytes } : version;
  } finally {
    await handle.close();
  }
}

async function readFully(handle: FileHandle, into: Uint8Array, position: number): Promise<number> {
  let length = 0;
  while (length < into.byteLength) {
    const { bytesRead } = await handle.read(into, length, into.byteLength - length, position + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

async function isSame(handle: FileHandle, { size, etag }: FileVersion): Promise<boolean> {
  const now = await handle.stat({ bigint: true });
  return now.isFile() && etag === `${size.toString(16)}-${now.mtimeNs.toString(16)}` && Number(now.size) === size;
}

const chunkBytes = 64 * 1024;

/**
 * The bytes of a file from `first` to `last`, both included. Where the file has changed since its version was read, it throws,
 * and the connection ends: the head has the length and the tag of another version.
 */
export async function* readFile(version: FileVersion, first: number, last: number): AsyncGenerator<Uint8Array> {
  const handle = await open(version.path, openFlags);
  try {
    if (!(await isSame(handle, version))) throw new Error("a file changed between its head and its content");
    for (let position = first; position <= last;) {
      const chunk = new Uint8Array(Math.min(chunkBytes, last - position + 1));
      const { bytesRead } = await handle.read(chunk, 0, chunk.byteLength, position);
      if (bytesRead === 0) throw new Error("a file became shorter while it was sent");
      position += bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

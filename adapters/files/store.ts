/** The files of one directory, read by names that a client chose. */
import { constants } from "node:fs";
import type { BigIntStats } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { contentTypeOf, encodings } from "./headers.ts";
import type { ContentTypes, Encoding } from "./headers.ts";
import { isWindowsName } from "./routes.ts";
import type { FileSource } from "./routes.ts";
import { tagOf } from "./version.ts";
import type { FileVersion, FoundFile, StoredFile } from "./version.ts";

/** A version of a file on the disk. */
class DiskVersion implements FileVersion {
  /** Without symbolic links. */
  readonly path: string;
  readonly size: number;
  readonly etag: string;
  readonly modified: Date;
  /** The whole of a small file. */
  readonly bytes: Uint8Array | undefined;
  readonly #stamp: string;
  readonly #statusChangedNs: bigint;

  constructor(path: string, stats: BigIntStats, tag: string, bytes?: Uint8Array) {
    this.path = path;
    this.size = Number(stats.size);
    this.etag = tag;
    // No date of the future is sent (RFC 9110 §8.8.2.1).
    this.modified = new Date(Math.min(Number(stats.mtimeMs), Date.now()));
    this.bytes = bytes;
    this.#stamp = stampOf(stats);
    this.#statusChangedNs = stats.ctimeNs;
  }

  /** Whether a file is this version. A build may give all files one time, which a file that replaces another of its length has, too. */
  isOf(path: string, stats: BigIntStats): boolean {
    return this.path === path && this.#stamp === stampOf(stats) && this.#statusChangedNs === stats.ctimeNs;
  }

  /**
   * Where the file has changed since its version was read, also while it is sent, it throws, and the connection ends: the head has the
   * length and the tag of another version.
   */
  async *read(first: number, last: number): AsyncGenerator<Uint8Array> {
    const handle = await open(this.path, openFlags);
    try {
      for (let position = first; position <= last;) {
        // Not zeroed: what was not read into is not sent.
        const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, last - position + 1));
        const { bytesRead } = await handle.read(chunk, 0, chunk.byteLength, position);
        // After the reading: a file has another time before it has other bytes.
        const now = await handle.stat({ bigint: true });
        const isSame = now.isFile() && this.#stamp === stampOf(now);
        if (!isSame || bytesRead === 0) throw new Error("a file changed after its head was made");
        position += bytesRead;
        yield chunk.subarray(0, bytesRead);
      }
    } finally {
      await handle.close();
    }
  }
}

/** A file on the disk. */
interface DiskFile extends StoredFile<DiskVersion> {
  /** Any other is looked at for each request: if it was replaced since, its head would be wrong, and the connection would end. */
  readonly isInMemory: boolean;
  /** By a monotonic clock. */
  readonly checkedAt: number;
  /** The same, when all compressed files next to it were looked for. */
  readonly searchedAt: number;
}

/** A file of at most this is kept in memory. A larger one is read while it is sent. */
const maxKeptFile = 64 * 1024;
/** What is kept in memory at most, of one directory. */
const maxKept = 16 * 1024 * 1024;
/** A version is kept of as many files, also of those that are not. */
const maxFiles = 4096;
/** How long a file in memory is sent without a check whether it has changed. */
const freshMs = 100;
/** How long no compressed file is looked for where there was none. 500 files in turn take 0.39 of the CPU time so (Node 24). */
const absentMs = 1000;
/** What is read at once, for each client that is sent a large file: 64 KiB take half as much CPU again. */
const chunkBytes = 512 * 1024;

const isWindows = process.platform === "win32";

/** The root that all files are in. */
export const anywhere = "";

export class FileStore implements FileSource {
  readonly #root: string;
  /** The root without symbolic links, when it was last read. */
  #realRoot: string | undefined = undefined;
  #rootReadAt = Number.NEGATIVE_INFINITY;
  readonly #types: ContentTypes;
  /** The one that was used least recently first. */
  readonly #kept = new Map<string, DiskFile>();
  #keptBytes = 0;
  readonly #loading = new Map<string, Promise<FoundFile>>();

  /** @param root An absolute path; {@link anywhere} for files that are found by absolute paths. */
  constructor(root: string, types: ContentTypes) {
    this.#root = root;
    this.#types = types;
  }

  /** What is at a path below the root; at once where it was looked at just before. */
  find(names: readonly string[]): FoundFile | Promise<FoundFile> {
    // No name has a separator, so that this tells all paths apart; to make the absolute one takes 0.5 µs.
    const path = names.length === 1 ? (names[0] as string) : names.join("/");
    const kept = this.#kept.get(path);
    if (kept?.isInMemory === true && performance.now() - kept.checkedAt < freshMs) return kept;
    const loading = this.#loading.get(path);
    if (loading !== undefined) return loading;
    const found = this.#load(path, kept).finally(() => this.#loading.delete(path));
    this.#loading.set(path, found);
    return found;
  }

  isName(segment: string): boolean {
    return !isWindows || isWindowsName(segment);
  }

  async #load(path: string, kept: DiskFile | undefined): Promise<FoundFile> {
    const checkedAt = performance.now();
    const absolute = join(this.#root, path);
    const isFresh = checkedAt - this.#rootReadAt < freshMs;
    // Before the path: a link that leads elsewhere meanwhile is found then.
    const realRoot = isFresh ? this.#realRoot : await this.#readRoot();
    const plain = await this.#version(realRoot, absolute, kept?.plain);
    this.#drop(path);
    if (plain === undefined || plain === "directory") return plain;
    const searchedAt = kept?.plain === plain && checkedAt - kept.searchedAt < absentMs ? kept.searchedAt : checkedAt;
    const encoded = new Map<Encoding, DiskVersion>();
    for (const [encoding, extension] of encodings) {
      const known = kept?.encoded.get(encoding);
      if (known === undefined && searchedAt < checkedAt) continue;
      const sibling = await this.#version(realRoot, absolute + extension, known, encoding);
      if (sibling !== undefined && sibling !== "directory") encoded.set(encoding, sibling);
    }
    const times = { checkedAt, searchedAt };
    const file = isSame(kept, plain, encoded) ? { ...kept, ...times } : this.#fileOf(path, plain, encoded, times);
    this.#keep(path, file);
    return file;
  }

  #fileOf(
    path: string,
    plain: DiskVersion,
    encoded: ReadonlyMap<Encoding, DiskVersion>,
    times: Pick<DiskFile, "checkedAt" | "searchedAt">,
  ): DiskFile {
    const name = basename(path);
    const contentType = contentTypeOf(name, this.#types);
    const isInMemory = [plain, ...encoded.values()].every(({ bytes }) => bytes !== undefined);
    const answers = new Map();
    return { name, contentType, plain, encoded, encodings: [...encoded.keys()], isInMemory, answers, ...times };
  }

  /** The version of a regular file inside of the root, with the bytes that are known of the same version. */
  async #version(
    realRoot: string | undefined,
    path: string,
    known: DiskVersion | undefined,
    encoding?: Encoding,
  ): Promise<DiskVersion | "directory" | undefined> {
    if (path.includes("\0")) return undefined;
    const real = await existing(realpath(path));
    if (real === undefined || !(isIn(realRoot, real) || isIn(await this.#readRoot(), real))) return undefined;
    const stats = await existing(stat(real, { bigint: true }));
    if (stats === undefined) return undefined;
    if (stats.isDirectory()) return "directory";
    if (!stats.isFile()) return undefined;
    return known?.isOf(real, stats) === true ? known : newVersion(real, encoding);
  }

  /**
   * The root without symbolic links. It may be one itself, which leads to another folder after a deployment. It is read as a file's
   * path is: Windows has several spellings for one folder.
   */
  async #readRoot(): Promise<string | undefined> {
    this.#realRoot = this.#root === anywhere ? anywhere : await existing(realpath(this.#root));
    this.#rootReadAt = performance.now();
    return this.#realRoot;
  }

  #keep(path: string, file: DiskFile): void {
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

function isIn(root: string | undefined, path: string): boolean {
  if (root === undefined) return false;
  return root === anywhere || path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function keptBytesOf({ plain, encoded }: DiskFile): number {
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

async function newVersion(path: string, encoding: Encoding | undefined): Promise<DiskVersion | undefined> {
  const handle = await existing(open(path, openFlags));
  if (handle === undefined) return undefined;
  try {
    // Another file may be at the path since that was looked at.
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) return undefined;
    if (stats.size > maxKeptFile) return new DiskVersion(path, stats, coded(stampOf(stats), encoding));
    const bytes = new Uint8Array(Number(stats.size));
    const read = await readFully(handle, bytes, 0);
    const now = await handle.stat({ bigint: true });
    // A file that is being written now is read when it is sent.
    const isWhole = read === bytes.byteLength && stampOf(now) === stampOf(stats);
    const tag = isWhole ? await tagOf(bytes) : stampOf(stats);
    return new DiskVersion(path, stats, coded(tag, encoding), isWhole ? bytes : undefined);
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

function stampOf({ size, mtimeNs }: BigIntStats): string {
  return `${size.toString(16)}-${mtimeNs.toString(16)}`;
}

/** Two codings of one file may have the same length and time. */
function coded(tag: string, encoding: Encoding | undefined): string {
  return encoding === undefined ? tag : `${tag}-${encoding}`;
}

/** Whether a file that was looked at again is as it was, also the compressed ones next to it. */
function isSame(
  kept: DiskFile | undefined,
  plain: DiskVersion,
  encoded: ReadonlyMap<Encoding, DiskVersion>,
): kept is DiskFile {
  if (kept?.plain !== plain || kept.encoded.size !== encoded.size) return false;
  return [...encoded].every(([encoding, version]) => kept.encoded.get(encoding) === version);
}

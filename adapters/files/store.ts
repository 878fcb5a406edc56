/** The files of one directory, read by names that a client chose. */
import type { BigIntStats } from "node:fs";
import { createHash } from "node:crypto";
import { open, realpath, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, join } from "node:path";
import type { EntityTag } from "../../src/doors/codecs.ts";
import { contentTypeOf, encodings } from "./headers.ts";
import type { ContentTypes, Encoding } from "./headers.ts";
import { leadsToHidden, namesBelow } from "./links.ts";
import { isWindowsName } from "./routes.ts";
import type { FileSource } from "./routes.ts";
import { SentFile, openFlags } from "./sent-file.ts";
import { tagOf } from "./version.ts";
import type { FileVersion, FoundFile, StoredFile } from "./version.ts";

/** A version of a file on the disk. */
class DiskVersion implements FileVersion {
  /** Without symbolic links. */
  readonly path: string;
  readonly size: number;
  readonly etag: EntityTag;
  readonly modified: Date;
  /** The whole of a small file. */
  readonly bytes: Uint8Array | undefined;
  readonly #stamp: string;
  readonly #isSettled: boolean;
  readonly #changedNs: bigint;

  /** @param isSettled Whether a later change gives the file another time: see {@link hasSettled}. */
  constructor(path: string, stats: BigIntStats, etag: EntityTag, isSettled: boolean, bytes?: Uint8Array) {
    this.path = path;
    this.size = Number(stats.size);
    this.etag = etag;
    this.#isSettled = isSettled;
    // No date of the future is sent (RFC 9110 §8.8.2.1).
    this.modified = new Date(Math.min(Number(stats.mtimeMs), Date.now()));
    this.bytes = bytes;
    this.#stamp = stampOf(stats);
    this.#changedNs = stats.ctimeNs;
  }

  /** Whether a file is this version, for certain. */
  isOf(path: string, stats: BigIntStats): boolean {
    if (!this.#isSettled || this.path !== path) return false;
    return this.#stamp === stampOf(stats) && this.#changedNs === stats.ctimeNs;
  }

  /**
   * Where the file has changed since its version was read, also while it is sent, it throws, and the connection ends: the head has the
   * length and the tag of another version.
   */
  async *read(first: number, last: number): AsyncGenerator<Uint8Array> {
    const file = new SentFile(this.path);
    let inode: bigint | undefined;
    try {
      for (let position = first; position <= last;) {
        const handle = await file.opened();
        // Not zeroed: what was not read into is not sent.
        const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, last - position + 1));
        const { bytesRead } = await handle.read(chunk, 0, chunk.byteLength, position);
        // After the reading: a file has another time before it has other bytes.
        const now = await handle.stat({ bigint: true });
        inode ??= now.ino;
        const isSame = now.isFile() && this.#stamp === stampOf(now) && now.ino === inode;
        if (!isSame || bytesRead === 0) throw new Error("a file changed after its head was made");
        position += bytesRead;
        if (position > last) await file.close();
        else await file.waits();
        yield chunk.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
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
/** The tag of a file of at most this is a hash of its content. To hash 4 MiB takes 3 ms, for each version of the file (Node 24). */
const maxHashedFile = 4 * 1024 * 1024;
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
  readonly #dotfiles: readonly string[];
  /** The one that was used least recently first. */
  readonly #kept = new Map<string, DiskFile>();
  #keptBytes = 0;
  readonly #loading = new Map<string, Promise<FoundFile>>();

  /**
   * @param root An absolute path; {@link anywhere} for files that are found by absolute paths.
   * @param dotfiles The hidden names that a link may lead to.
   */
  constructor(root: string, types: ContentTypes, dotfiles: readonly string[] = []) {
    this.#root = root;
    this.#types = types;
    this.#dotfiles = dotfiles;
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
    if (
      real === undefined ||
      !(this.#isSent(realRoot, real, path) || this.#isSent(await this.#readRoot(), real, path))
    ) {
      return undefined;
    }
    const stats = await existing(stat(real, { bigint: true }));
    if (stats === undefined) return undefined;
    if (stats.isDirectory()) return "directory";
    if (!stats.isFile()) return undefined;
    return known?.isOf(real, stats) === true ? known : newVersion(real, encoding);
  }

  /**
   * Whether what a path leads to is in the root, and is not hidden. The names of the path itself were checked before, or are the
   * application's own, as its `fallback`.
   */
  #isSent(realRoot: string | undefined, real: string, path: string): boolean {
    if (realRoot === undefined) return false;
    if (realRoot === anywhere) return true;
    const names = namesBelow(realRoot, real);
    if (names === undefined) return false;
    const own = namesBelow(this.#root, path) ?? [];
    return !leadsToHidden(names, [...this.#dotfiles, ...own]);
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

async function newVersion(path: string, encoding: Encoding | undefined): Promise<DiskVersion | undefined> {
  const handle = await existing(open(path, openFlags));
  if (handle === undefined) return undefined;
  try {
    const lookedAt = Date.now();
    // Another file may be at the path since that was looked at.
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) return undefined;
    const isSettled = hasSettled(stats, lookedAt);
    const isKept = stats.size <= maxKeptFile;
    if (stats.size > maxHashedFile || !(isKept || isSettled)) {
      return new DiskVersion(path, stats, isSettled ? coded(placeTag(stats), encoding) : weakTag(), isSettled);
    }
    const content = isKept ? await wholeOf(handle, stats) : undefined;
    const tag = content === undefined ? await hashOf(handle, stats) : await tagOf(content);
    // A file that is being written now is read when it is sent.
    const isWhole = tag !== undefined && stampOf(await handle.stat({ bigint: true })) === stampOf(stats);
    if (!isWhole) return new DiskVersion(path, stats, weakTag(), false);
    return new DiskVersion(path, stats, coded(tag, encoding), isSettled, content);
  } finally {
    await handle.close();
  }
}

async function wholeOf(handle: FileHandle, { size }: BigIntStats): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(Number(size));
  for (let length = 0; length < bytes.byteLength;) {
    const { bytesRead } = await handle.read(bytes, length, bytes.byteLength - length, length);
    if (bytesRead === 0) return undefined;
    length += bytesRead;
  }
  return bytes;
}

/** What {@link tagOf} gives, without the whole content in memory; undefined where the file got shorter. */
async function hashOf(handle: FileHandle, { size }: BigIntStats): Promise<string | undefined> {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, Number(size)));
  for (let left = Number(size); left > 0;) {
    const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.byteLength, left), Number(size) - left);
    if (bytesRead === 0) return undefined;
    hash.update(chunk.subarray(0, bytesRead));
    left -= bytesRead;
  }
  return hash.digest("hex").slice(0, 32);
}

/** What a file keeps while it is not written to: a link to it, or a new name, changes only its `ctime`. */
function stampOf({ size, mtimeNs, ino, dev }: BigIntStats): string {
  return [size, mtimeNs, ino, dev].map((number) => number.toString(16)).join("-");
}

/** The tag of a file that is too large to be hashed: another machine, which has a copy of the file, gives it another one. */
function placeTag(stats: BigIntStats): string {
  return `${stampOf(stats)}-${stats.ctimeNs.toString(16)}`;
}

/**
 * Whether the clock of the file system has moved since the file changed. Before that, another change may leave its times as they are. A
 * tick lasts up to 2 s where times are in whole seconds (FAT, HFS+, and what Deno shows), and up to 16 ms elsewhere.
 */
function hasSettled({ ctimeNs }: BigIntStats, now: number): boolean {
  const tickMs = ctimeNs % 1_000_000_000n === 0n ? 2000 : 100;
  return now - Number(ctimeNs / 1_000_000n) > tickMs;
}

/** Of a file that may change and keep its times: no client can use its copy without asking for the file again. */
function weakTag(): EntityTag {
  return { tag: crypto.randomUUID(), weak: true };
}

/** Two codings of one file may have the same content. */
function coded(tag: string, encoding: Encoding | undefined): EntityTag {
  return { tag: encoding === undefined ? tag : `${tag}-${encoding}`, weak: false };
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

/** Files that are being sent. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { OldestFirst } from "../../src/doors/base.ts";

/** How many files stay open while their clients take what was read. More clients that read nothing would use up the descriptors. */
const maxWaiting = 256;

/** Those that stay open. The one that has waited longest is first. */
const waiting: OldestFirst<SentFile> = new OldestFirst();
let made = 0;

// Where a path became a link since, it is not followed; where it became a pipe, opening it does not wait.
export const openFlags: number = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * A file that is sent to one client. It is opened for the first part and, where too many clients wait, again for a later one: another
 * file may be at the path then.
 */
export class SentFile {
  readonly #path: string;
  readonly #key = String(++made);
  #handle: FileHandle | undefined = undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** The open file, for the next part. */
  async opened(): Promise<FileHandle> {
    waiting.delete(this.#key);
    return (this.#handle ??= await open(this.#path, openFlags));
  }

  /** A part was read, and its client takes it. */
  async waits(): Promise<void> {
    waiting.set(this.#key, this);
    if (waiting.size > maxWaiting) await waiting.oldest?.close();
  }

  async close(): Promise<void> {
    waiting.delete(this.#key);
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

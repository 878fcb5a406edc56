import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** How long no further event may come: an editor that saves is several events. */
const quietMs = 50;

/**
 * The files that a program imported, watched by their folders. An editor may replace a file by a new one of its name: a watcher
 * of the old one, such as that of `node --watch` on Linux, sees no later change.
 */
export class Changes {
  readonly #files = new Set<string>();
  readonly #folders = new Map<string, FSWatcher>();
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #onChange: (() => void) | undefined = undefined;
  #takesAny = false;

  /** Watches files as well, each given as a path or as a `file:` URL. Those of installed packages do not change. */
  add(files: readonly string[]): void {
    for (const file of files) {
      const path = localPathOf(file);
      if (path === undefined) continue;
      this.#files.add(path);
      this.#watch(dirname(path));
    }
  }

  /** Any change in the watched folders counts: the program did not start, so a file that it needs may be new. */
  addAny(): void {
    this.#takesAny = true;
  }

  /** Resolves at the next change, or when this is closed. */
  next(): Promise<void> {
    this.#takesAny = false;
    return new Promise((resolve) => {
      this.#onChange = resolve;
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#folders.values()) watcher.close();
    this.#onChange?.();
  }

  /** In place of a folder that is missing, the one that it will be in. The program names its files again when it starts again. */
  #watch(folder: string): void {
    if (this.#folders.has(folder)) return;
    try {
      const watcher = watch(folder, (_event, name) => this.#event(folder, name));
      this.#folders.set(folder, watcher);
      watcher.on("error", () => this.#lose(folder));
    } catch {
      const parent = dirname(folder);
      if (parent !== folder) this.#watch(parent);
    }
  }

  #event(folder: string, name: string | null): void {
    // A folder that is removed or replaced says so by its own name. Its files have changed, and are watched again after the restart.
    const isLost = name === basename(folder);
    if (isLost) this.#lose(folder);
    if (!isLost && !this.#takesAny && name !== null && !this.#files.has(join(folder, name))) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onChange?.(), quietMs);
  }

  #lose(folder: string): void {
    this.#folders.get(folder)?.close();
    this.#folders.delete(folder);
    for (const file of this.#files) if (dirname(file) === folder) this.#files.delete(file);
    // It shows when the folder is there again.
    this.#watch(dirname(folder));
  }
}

function localPathOf(file: string): string | undefined {
  const isLocal = !/^(?!file:)[a-z]{2,}:/.test(file);
  if (!isLocal || /[\\/]node_modules[\\/]/.test(file)) return undefined;
  return file.startsWith("file:") ? fileURLToPath(file) : file;
}

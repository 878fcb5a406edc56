import { counted } from "../counted.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import { isThenable } from "../async.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { jsonLine, passes } from "./entry.ts";
import type { Format, Level, LogEntry } from "./entry.ts";
import { prettyLine } from "./pretty.ts";
import { isWorkers } from "../runtime.ts";

/** Settings as texts. */
export interface SettingTexts {
  /** `info,shop=debug`. */
  readonly levels?: string | undefined;
  /** `pretty` or `json`. */
  readonly format?: string | undefined;
}

/** Parses the texts; the error names the invalid part. */
export function readSettings({ levels = "", format = "" }: SettingTexts): Result<Omit<LogOptions, "out">, string> {
  const chosen = readFormat(format);
  if (!chosen.ok) return chosen;
  let fallback: Level | undefined = "info";
  const sources = new Map<string, Level | undefined>();
  for (const item of levels.split(",").map((item) => item.trim())) {
    if (item === "") continue;
    const equals = item.lastIndexOf("=");
    const word = item
      .slice(equals + 1)
      .trim()
      .toLowerCase();
    if (!words.has(word)) return error(`"${item}" is not a log level: error, warn, info, debug or off`);
    if (equals === -1) fallback = words.get(word);
    else sources.set(item.slice(0, equals).trim(), words.get(word));
  }
  return ok({ level: fallback, levels: Object.fromEntries(sources), ...chosen.value });
}

const words: ReadonlyMap<string, Level | undefined> = /* @__PURE__ */ new Map<string, Level | undefined>([
  ["off", undefined],
  ["quiet", undefined],
  ["error", "error"],
  ["warn", "warn"],
  ["warning", "warn"],
  ["info", "info"],
  ["debug", "debug"],
]);

function readFormat(text: string): Result<{ readonly format?: Format }, string> {
  const format = text.trim().toLowerCase();
  if (format === "") return ok({});
  if (format === "pretty" || format === "json") return ok({ format });
  return error(`"${format}" is not a log format: pretty or json`);
}

/** The destination of lines by default. */
export interface Sink {
  /** One line of a level, without its newline. Never throws. */
  write(line: string, level: Level): void;
  /** The format where none was chosen. */
  readonly format: Format;
  /** Whether it is a terminal that shows colors. */
  readonly isColored?: boolean;
}

/** The settings of the logs. */
export interface LogOptions {
  /** For sources without a level of their own: `info` by default; undefined turns them off. */
  readonly level?: Level | undefined;
  /** By source; undefined turns a source off. */
  readonly levels?: { readonly [source: string]: Level | undefined };
  /** `pretty` on a terminal and `json` otherwise, by default. */
  readonly format?: Format;
  /** Receives each line, which is otherwise written to standard error, and on Workers to the console by its level. */
  readonly out?: (line: string) => void;
}

// Settings are per process: they hold for every app in it.
let settings: LogOptions = {};
// Every runtime has `console`; a listener replaces this with its runtime's fastest way.
let sink: Sink = {
  write: (line, level) => {
    // Workers have no standard error: wrangler and the dashboard show what `console.error` writes as an error.
    if (!isWorkers() || level === "error") console.error(line);
    else if (level === "warn") console.warn(line);
    else console.log(line);
  },
  get format() {
    return (formatBefore ??= isTerminal() ? "pretty" : "json");
  },
};
// The format before a listener starts: of the lines of migrations, or of a database that the program starts.
let formatBefore: Format | undefined = undefined;

let anyOn = true;
// The threshold of each source by name, read with every request.
let thresholds = new Map<string, Level | undefined>();

// Whether standard error is one. Workers have none, and Node 20 before 20.16 does not tell.
function isTerminal(): boolean {
  const { process } = globalThis as { readonly process?: { getBuiltinModule?(name: string): unknown } };
  const tty = process?.getBuiltinModule?.("tty") as { isatty?(descriptor: number): boolean } | undefined;
  return tty?.isatty?.(2) === true;
}

export function useSettings(set: LogOptions): void {
  settings = set;
  thresholds = new Map(Object.entries(set.levels ?? {}));
  const levels = [...("level" in set ? [set.level] : ["info"]), ...Object.values(set.levels ?? {})];
  anyOn = levels.some((level) => level !== undefined);
}

/** Sets levels and format; the destination stays. */
export function useLevels(set: Omit<LogOptions, "out">): void {
  useSettings(settings.out === undefined ? set : { ...set, out: settings.out });
}

/** Whether any source may write anything at all. */
export function isAnyOn(): boolean {
  return anyOn;
}

/** Whether the program takes the lines itself, or has set a level for this source. */
export function isAskedFor(source: string): boolean {
  return settings.out !== undefined || Object.hasOwn(settings.levels ?? {}, source);
}

/** Sets a runtime's own sink; for listeners. */
export function useSink(brought: Sink): void {
  sink = brought;
}

/** Whether a source's line of a level is written. */
export function isOn(level: Level, source: string): boolean {
  let threshold = thresholds.get(source);
  if (threshold === undefined && !thresholds.has(source)) {
    threshold = "level" in settings ? settings.level : "info";
    if (thresholds.size < maxThresholds) thresholds.set(source, threshold);
  }
  return passes(level, threshold);
}

// Sources are few. The limit bounds an application that generates names.
const maxThresholds = 500;

/** Writes one line, if its source's level passes it. */
export function log(entry: LogEntry): void {
  if (isOn(entry.level, entry.source)) write(entry);
}

// An `out` that logs, as where it fails, gets that line too, also after an `await`. What it logs for that one has another
// destination: it would never end.
const runningOuts = /* @__PURE__ */ new AsyncLocalStorage<number>();
const maxRunningOuts = 2;

/** Writes one line. A sink that throws never fails the code that logs. */
export function write(entry: LogEntry): void {
  const isJson = (settings.format ?? sink.format) === "json";
  const now = Date.now();
  const { out } = settings;
  const running = out === undefined ? 0 : (runningOuts.getStore() ?? 0);
  try {
    const isColored = out === undefined && sink.isColored === true;
    const line = isJson ? (entry.json?.(now) ?? jsonLine(entry, now)) : prettyLine(entry, now, isColored);
    if (out === undefined || running === maxRunningOuts) sink.write(line, entry.level);
    else ignoreRejection(runningOuts.run(running + 1, out, line));
  } catch {
    // The error has no other destination.
  }
}

// An asynchronous `out` may reject later: an unhandled rejection would end the process.
function ignoreRejection(written: unknown): void {
  if (isThenable(written)) Promise.resolve(written).catch(() => {});
}

const pieceBytes = 65_536;
const flushMs = 10;
const retryMs = 2;
// The memory that a stalled reader costs; beyond it, lines are dropped.
const maxBytes = 16_777_216;
const lastMs = 5000;

/** A runtime's way to write bytes. */
interface Outlet {
  readonly format: Format;
  /** Whether it is a terminal that shows colors, and the user has not turned them off (`NO_COLOR`). */
  readonly isColored?: boolean;
  /** A buffer of the kind that `encode` writes to fastest: a plain `Uint8Array` unless set. */
  readonly room?: (bytes: number) => Uint8Array;
  /**
   * Writes a text as UTF-8 into such a buffer, which is large enough, and returns the number of bytes: by a `TextEncoder` unless
   * set.
   */
  readonly encode?: (text: string, into: Uint8Array, at: number) => number;
  /**
   * Writes without blocking and returns how many bytes were taken: 0 without room, or for `EAGAIN` and a full disk, which
   * may be thrown. Throws any other error where the destination is gone.
   */
  write(bytes: Uint8Array): number;
  /** Blocks for a time, when the process ends: by `Atomics.wait` unless set. */
  readonly pause?: (ms: number) => unknown;
}

/** A sink that writes many lines at once. */
interface Batch extends Omit<Sink, "write"> {
  /** One line, whatever its level. */
  write(line: string): void;
  /**
   * Writes the waiting lines; for the process's exit. It waits 5 s for a reader that takes nothing. Later lines, as of another
   * listener of the exit, are written at once.
   */
  readonly finish: () => void;
}

/**
 * A sink that writes many lines at once, because one write for each costs a third of a request's time. Lines are written
 * within 10 ms, or as soon as the reader takes them. Beyond 16 MiB lines are dropped, and one line gives their number.
 */
export function batch(outlet: Outlet): Batch {
  const lines = new LineBuffer({ ...platformOutlet(), ...outlet });
  const { format, isColored = false } = outlet;
  return { format, isColored, write: (line) => lines.add(line), finish: () => lines.finish() };
}

/** The parts of an outlet that every platform has. */
function platformOutlet(): Required<Omit<Outlet, "format" | "write">> {
  const encoder = new TextEncoder();
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  return {
    isColored: false,
    room: (bytes) => new Uint8Array(bytes),
    encode: (text, into, at) => encoder.encodeInto(text, into.subarray(at)).written,
    pause: (ms) => Atomics.wait(asleep, 0, 0, ms),
  };
}

class LineBuffer {
  readonly #outlet: Required<Outlet>;
  /** The newest lines. */
  readonly #piece: Uint8Array;
  #length = 0;
  /** Older pieces that are not yet written, oldest first. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  /** Whether the process ends, and its reader reads: no timer will run. */
  #isEnding = false;

  constructor(outlet: Required<Outlet>) {
    this.#outlet = outlet;
    this.#piece = outlet.room(pieceBytes);
  }

  // Encoded at once: the parts of a line are still in the processor's cache, and later they are not.
  add(line: string): void {
    // A UTF-16 unit is at most three bytes of UTF-8.
    const max = line.length * 3 + 1;
    if (this.#length + max > pieceBytes) this.#flush();
    if (this.#waitingBytes > maxBytes) {
      this.#dropped++;
      return;
    }
    if (max > pieceBytes) this.#addLong(line, max);
    else {
      if (this.#length + max > pieceBytes) this.#queueNewest();
      this.#length += this.#outlet.encode(line, this.#piece, this.#length);
      this.#piece[this.#length++] = newline;
    }
    if (this.#isEnding) this.#writeAll();
    else this.#timer ??= later(this.#flush, flushMs);
  }

  finish(): void {
    this.#isEnding = true;
    this.#writeAll();
    if (this.#isEnding && this.#dropped > 0) this.#logDropped();
    // On Deno it is called for an error, too: where the program has prevented that it ends the process, that runs on.
    later(() => (this.#isEnding = false), 0);
  }

  /** Writes every line, and waits for a reader that takes some of them. */
  #writeAll(): void {
    this.#queueNewest();
    let last = performance.now();
    while (this.#waiting.length > 0) {
      const before = this.#waitingBytes;
      this.#write();
      if (this.#waitingBytes < before) last = performance.now();
      else if (performance.now() - last <= lastMs) this.#outlet.pause(retryMs);
      else {
        this.#isEnding = false;
        return;
      }
    }
  }

  readonly #flush = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length > 0) this.#write();
    if (this.#waiting.length === 0) this.#writeNewest();
    if (this.#waiting.length > 0) this.#timer = later(this.#flush, retryMs);
    else if (this.#dropped > 0) this.#logDropped();
  };

  /** Moves the newest lines to the end of the queue. */
  #queueNewest(): void {
    if (this.#length === 0) return;
    this.#queue(new Uint8Array(this.#piece.subarray(0, this.#length)));
    this.#length = 0;
  }

  // Nearly always all bytes are taken, and nothing is copied.
  #writeNewest(): void {
    const newest = this.#piece.subarray(0, this.#length);
    this.#length = 0;
    if (newest.byteLength === 0) return;
    try {
      const count = taken(this.#outlet, newest);
      if (count < newest.byteLength) this.#queue(new Uint8Array(newest.subarray(count)));
    } catch {
      // As in `#write`.
    }
  }

  #addLong(line: string, max: number): void {
    this.#queueNewest();
    const bytes = this.#outlet.room(max);
    const length = this.#outlet.encode(line, bytes, 0);
    bytes[length] = newline;
    // Copied: the room is three times as large, and `maxBytes` would not count it.
    this.#queue(new Uint8Array(bytes.subarray(0, length + 1)));
  }

  #queue(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.byteLength;
  }

  /** Writes the queue, as far as there is room. */
  #write(): void {
    try {
      for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
        const count = taken(this.#outlet, first);
        this.#waitingBytes -= count;
        if (count === first.byteLength) this.#waiting.shift();
        else this.#waiting[0] = first.subarray(count);
        if (count === 0) return;
      }
    } catch {
      // The reader is gone, and the error has no other destination.
      this.#waiting = [];
      this.#waitingBytes = 0;
    }
  }

  #logDropped(): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    const message = `dropped ${counted(dropped, "line")}: standard error was not read fast enough`;
    log({ level: "warn", source: "framework.log", message, fields: {}, context: undefined });
  }
}

const newline = 0x0a;

/** A pipe takes as many bytes at once or not at all (`PIPE_BUF` of Linux; POSIX asks for 512). */
const atomicBytes = 4096;

/**
 * Writes whole lines at a time, as many as a pipe takes at once. Processes may share it, such as the workers of a cluster: where
 * there was room for a part of a line alone, the next bytes would be those of another process.
 */
export function byLines(write: Outlet["write"]): Outlet["write"] {
  return (bytes) => {
    let at = 0;
    while (at < bytes.byteLength) {
      const lines = bytes.subarray(at, endOfLines(bytes, at));
      const count = taken({ write }, lines);
      at += count;
      if (count < lines.byteLength) break;
    }
    return at;
  };
}

/** The end of the lines from `at` on that fit into one write; of the first line, where that is longer. Each ends with its newline. */
function endOfLines(bytes: Uint8Array, at: number): number {
  if (bytes.byteLength - at <= atomicBytes) return bytes.byteLength;
  const last = bytes.lastIndexOf(newline, at + atomicBytes - 1);
  return (last >= at ? last : bytes.indexOf(newline, at)) + 1;
}

/** The number of bytes that were taken. */
function taken(outlet: Pick<Outlet, "write">, bytes: Uint8Array): number {
  try {
    return outlet.write(bytes);
  } catch (error) {
    if (transient.has((error as { readonly code?: unknown }).code)) return 0;
    throw error;
  }
}

// A slow reader, and a full disk.
const transient: ReadonlySet<unknown> = /* @__PURE__ */ new Set(["EAGAIN", "ENOSPC", "EDQUOT"]);

// The timer does not keep the process alive, where the runtime allows that: `finish` writes the lines at exit.
function later(work: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer: unknown = setTimeout(work, ms);
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function")
    timer.unref();
  return timer as ReturnType<typeof setTimeout>;
}

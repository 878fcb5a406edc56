import { isThenable } from "../async.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { passes } from "./entry.ts";
import type { LogEntry, Format, Level } from "./entry.ts";
import { jsonLine, prettyLine } from "./line.ts";

/** Settings as texts. */
export interface SettingTexts {
  /** `info,shop=debug`. */
  readonly levels?: string | undefined;
  /** `pretty` or `json`. */
  readonly format?: string | undefined;
}

/** What the texts say, or what of them says nothing. */
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
    if (!words.has(word)) return error(`"${item}" is not a log level`);
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

/** Where lines go when the application names no other place. */
export interface Sink {
  /** One line, without its newline. Never throws. */
  write(line: string): void;
  /** What is written where no format was chosen. */
  readonly format: Format;
}

/** What may be set of the logs. */
export interface LogOptions {
  /** For sources with no level of their own: `info` by default; undefined turns them off. */
  readonly level?: Level | undefined;
  /** By source; undefined turns a source off. */
  readonly levels?: { readonly [source: string]: Level | undefined };
  /** `pretty` on a terminal and `json` otherwise, unless set. */
  readonly format?: Format;
  /** Receives each line in place of standard error. */
  readonly out?: (line: string) => void;
}

// Logs are the process's: what a program sets where it starts holds for every app in it.
let settings: LogOptions = {};
// Every runtime has a console; a listener brings what its runtime does best.
let sink: Sink = { write: (line) => console.error(line), format: "json" };

let anyOn = true;
// What each source writes from, by its name: asked with every request.
let thresholds = new Map<string, Level | undefined>();

export function useSettings(set: LogOptions): void {
  settings = set;
  thresholds = new Map(Object.entries(set.levels ?? {}));
  const levels = [...("level" in set ? [set.level] : ["info"]), ...Object.values(set.levels ?? {})];
  anyOn = levels.some((level) => level !== undefined);
}

/** Sets levels and format anew; where lines go stays as it was set. */
export function useLevels(set: Omit<LogOptions, "out">): void {
  useSettings(settings.out === undefined ? set : { ...set, out: settings.out });
}

/** Whether any source may write anything at all. */
export function isAnyOn(): boolean {
  return anyOn;
}

/** Brings a runtime's own sink; for listeners. */
export function useSink(brought: Sink): void {
  sink = brought;
}

/** Whether a source's line of a level is written. */
export function isOn(level: Level, source: string): boolean {
  let threshold = thresholds.get(source);
  if (threshold === undefined && !thresholds.has(source)) {
    threshold = "level" in settings ? settings.level : "info";
    if (thresholds.size < mostThresholds) thresholds.set(source, threshold);
  }
  return passes(level, threshold);
}

// Sources are few. An application that makes them up as it goes is served all the same, past what is kept.
const mostThresholds = 500;

/** Writes one line, where its source's level lets it. */
export function log(entry: LogEntry): void {
  if (isOn(entry.level, entry.source)) write(entry);
}

/** Writes one line. A sink that fails never fails what was logged. */
export function write(entry: LogEntry): void {
  const isJson = (settings.format ?? sink.format) === "json";
  const now = Date.now();
  try {
    const line = isJson ? (entry.json?.(now) ?? jsonLine(entry, now)) : prettyLine(entry, now);
    if (settings.out === undefined) sink.write(line);
    else unheard(settings.out(line));
  } catch {
    // There is no other place to say it.
  }
}

// One that is asynchronous may fail later: a promise that nobody hears would end the process.
function unheard(written: unknown): void {
  if (isThenable(written)) Promise.resolve(written).catch(() => {});
}

const pieceBytes = 65_536;
const flushMs = 10;
const againMs = 2;
// A reader that takes nothing costs this much memory, and then lines.
const mostBytes = 16_777_216;
const lastMs = 5000;

/** Where a runtime writes bytes. */
interface Outlet {
  readonly format: Format;
  /** Room for bytes, as {@link encode} likes it best. */
  room(bytes: number): Uint8Array;
  /** Writes a text as UTF-8 into such room, of which there is enough; answers how many bytes it is. */
  encode(text: string, into: Uint8Array, at: number): number;
  /**
   * Takes bytes without waiting for whoever reads them, and answers how many: none where there is no room, which it may also
   * throw as `EAGAIN`, or as a disk that is full. Throws anything else where there is no place to write to any more.
   */
  write(bytes: Uint8Array): number;
  /** Lets time pass with nothing else going on, when the process ends. */
  pause(ms: number): void;
}

/** Lines that go out many at a time. */
interface Batch extends Sink {
  /** Writes what waits; for when the process exits. A reader that takes nothing is waited for 5 s. */
  readonly finish: () => void;
}

/**
 * A sink that makes one write of many lines: one write for each costs a request a third of its time. What waits goes
 * out within 10 ms, or as soon as its reader takes it. Past 16 MiB lines are dropped, and counted in a line.
 */
export function batch(outlet: Outlet): Batch {
  const lines = new LineBuffer(outlet);
  return { format: outlet.format, write: (line) => lines.add(line), finish: () => lines.finish() };
}

class LineBuffer {
  readonly #outlet: Outlet;
  /** The lines that came last. */
  readonly #piece: Uint8Array;
  #length = 0;
  /** Older pieces that found no room, oldest first. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(outlet: Outlet) {
    this.#outlet = outlet;
    this.#piece = outlet.room(pieceBytes);
  }

  // Into bytes at once: the pieces a line is made of are still in the processor's cache, and when many are written together they are not.
  add(line: string): void {
    // A UTF-16 unit is three bytes of UTF-8 at the most.
    const most = line.length * 3 + 1;
    if (this.#length + most > pieceBytes) this.#flush();
    if (this.#waitingBytes > mostBytes) {
      this.#dropped++;
      return;
    }
    if (most > pieceBytes) this.#addLong(line, most);
    else {
      if (this.#length + most > pieceBytes) this.#set();
      this.#length += this.#outlet.encode(line, this.#piece, this.#length);
      this.#piece[this.#length++] = newline;
    }
    this.#timer ??= later(this.#flush, flushMs);
  }

  finish(): void {
    this.#set();
    let last = performance.now();
    while (this.#waiting.length > 0) {
      const before = this.#waitingBytes;
      this.#write();
      if (this.#waitingBytes < before) last = performance.now();
      else if (performance.now() - last > lastMs) return;
      else this.#outlet.pause(againMs);
    }
  }

  readonly #flush = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length > 0) this.#write();
    if (this.#waiting.length === 0) this.#writeNewest();
    if (this.#waiting.length > 0) this.#timer = later(this.#flush, againMs);
    else if (this.#dropped > 0) this.#tell();
  };

  /** Sets the newest lines behind those that wait. */
  #set(): void {
    if (this.#length === 0) return;
    this.#queue(new Uint8Array(this.#piece.subarray(0, this.#length)));
    this.#length = 0;
  }

  // Nearly always all of it is taken, and nothing is copied.
  #writeNewest(): void {
    const newest = this.#piece.subarray(0, this.#length);
    this.#length = 0;
    if (newest.byteLength === 0) return;
    try {
      const count = taken(this.#outlet, newest);
      if (count < newest.byteLength) this.#queue(new Uint8Array(newest.subarray(count)));
    } catch {
      // As below.
    }
  }

  #addLong(line: string, most: number): void {
    this.#set();
    const bytes = this.#outlet.room(most);
    const length = this.#outlet.encode(line, bytes, 0);
    bytes[length] = newline;
    this.#queue(bytes.subarray(0, length + 1));
  }

  #queue(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.byteLength;
  }

  /** Writes what waits, as far as there is room. */
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
      // Nobody reads it any more, and there is no other place to say it.
      this.#waiting = [];
      this.#waitingBytes = 0;
    }
  }

  #tell(): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    const message = `dropped ${dropped} lines: standard error was not read fast enough`;
    log({ level: "warn", source: "framework.log", message, fields: {}, context: undefined });
  }
}

const newline = 0x0a;

/** How many of these bytes were taken. */
function taken(outlet: Outlet, bytes: Uint8Array): number {
  try {
    return outlet.write(bytes);
  } catch (error) {
    if (passing.has((error as { readonly code?: unknown }).code)) return 0;
    throw error;
  }
}

// A reader that has not caught up, and a disk that is full.
const passing: ReadonlySet<unknown> = /* @__PURE__ */ new Set(["EAGAIN", "ENOSPC", "EDQUOT"]);

// Where a runtime lets it, a process that has nothing else to do ends at once: what waits is written then.
function later(work: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer: unknown = setTimeout(work, ms);
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function")
    timer.unref();
  return timer as ReturnType<typeof setTimeout>;
}

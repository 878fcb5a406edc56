import { passes } from "./level.ts";
import type { Level } from "./level.ts";
import { jsonLine, prettyLine } from "./line.ts";
import type { Entry, Format } from "./entry.ts";
import { isThenable } from "../thenable.ts";

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
export function log(entry: Entry): void {
  if (isOn(entry.level, entry.source)) write(entry);
}

/** Writes one line. A sink that fails never fails what was logged. */
export function write(entry: Entry): void {
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

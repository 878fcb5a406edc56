import { passes } from "./level.ts";
import type { Level } from "./level.ts";
import { jsonLine, prettyLine } from "./line.ts";
import type { Entry, Format } from "./entry.ts";

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

export function useSettings(set: LogOptions): void {
  settings = set;
  const levels = [...("level" in set ? [set.level] : ["info"]), ...Object.values(set.levels ?? {})];
  anyOn = levels.some((level) => level !== undefined);
}

/** Whether any source may write anything at all. */
export function isAnyOn(): boolean {
  return anyOn;
}

/** Brings a runtime's own sink; for listeners. */
export function useSink(brought: Sink): void {
  sink = brought;
}

/** The level a source writes from; undefined where it is off. */
export function threshold(source: string): Level | undefined {
  const { levels } = settings;
  if (levels !== undefined && Object.hasOwn(levels, source)) return levels[source];
  return "level" in settings ? settings.level : "info";
}

/** Writes one line, where its source's level lets it. A sink that fails never fails what was logged. */
export function log(entry: Entry): void {
  if (!passes(entry.level, threshold(entry.source))) return;
  const toLine = (settings.format ?? sink.format) === "json" ? jsonLine : prettyLine;
  try {
    const line = toLine(entry, Date.now());
    if (settings.out === undefined) sink.write(line);
    else settings.out(line);
  } catch {
    // There is no other place to say it.
  }
}

import { current } from "./context.ts";
import type { Level } from "./level.ts";
import type { Fields } from "./entry.ts";
import { log, useSettings } from "./writer.ts";
import type { LogOptions } from "./writer.ts";

/** What logs under one name. */
export interface Source {
  /** A bug. */
  error(message: string, fields?: Fields): void;
  /** Handled, but degraded. */
  warn(message: string, fields?: Fields): void;
  /** What happened. */
  info(message: string, fields?: Fields): void;
  /** How it happened. */
  debug(message: string, fields?: Fields): void;
}

/** Sets levels, format and destination for the process; what is not given returns to its default. */
export function setup(options: LogOptions = {}): void {
  useSettings(options);
}

/** A source of the application's own. A line logged during a request carries the request's id and trace. */
export function source(name: string): Source {
  const at =
    (level: Level) =>
    (message: string, fields: Fields = {}) => {
      log({ level, source: name, message, fields, context: current() });
    };
  return { error: at("error"), warn: at("warn"), info: at("info"), debug: at("debug") };
}

/**
 * The id of the request whose work is running: in its handler, after its awaits, in its timers. Undefined outside of
 * one, and where `Log.setup` has turned every source off, which leaves a request without a context.
 */
export function requestId(): string | undefined {
  return current()?.requestId;
}

export type { Level } from "./level.ts";
export type { Fields, Format } from "./entry.ts";
export type { LogOptions } from "./writer.ts";

import { context } from "./context.ts";
import type { Level } from "./level.ts";
import type { Fields } from "./line.ts";
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
  const at = (level: Level) => (message: string, fields: Fields = {}) => {
    log({ level, source: name, message, fields, context: context.getStore() });
  };
  return { error: at("error"), warn: at("warn"), info: at("info"), debug: at("debug") };
}

/** The id of the request whose work is running. */
export function requestId(): string | undefined {
  return context.getStore()?.requestId;
}

export type { Level } from "./level.ts";
export type { Fields, Format } from "./line.ts";
export type { LogOptions } from "./writer.ts";

import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import { carried, current, tagged } from "./context.ts";
import type { LogFields, Level } from "./entry.ts";
import { log, readSettings, useLevels, useSettings } from "./writer.ts";
import type { LogOptions, SettingTexts } from "./writer.ts";

/** What logs under one name. */
export interface Source {
  /** A bug. */
  error(message: string, fields?: LogFields): void;
  /** Handled, but degraded. */
  warn(message: string, fields?: LogFields): void;
  /** What happened. */
  info(message: string, fields?: LogFields): void;
  /** How it happened. */
  debug(message: string, fields?: LogFields): void;
}

/** Sets levels, format and destination for the process; what is not given returns to its default. */
export function setup(options: LogOptions = {}): void {
  useSettings(options);
}

/**
 * Sets levels and format from texts, as a program has them from its environment or its arguments; a blank one is as none.
 * Where lines go stays as `Log.setup` set it.
 *
 * @param texts `levels` is a comma-separated list: a bare level is the default's, `source=level` a source's. A level is
 * `error`, `warn`, `info`, `debug` or `off`, and a format `pretty` or `json`, in any case.
 * @returns an error that names what could not be read; nothing is set then.
 *
 * @example
 * ```ts
 * const read = Log.configure({ levels: process.env.LOG_LEVELS, format: process.env.LOG_FORMAT }); // "warn,shop=debug"
 * if (!read.ok) throw new Error(read.error);
 * ```
 */
export function configure(texts: SettingTexts): Result<void, string> {
  const read = readSettings(texts);
  if (!read.ok) return read;
  useLevels(read.value);
  return ok();
}

/** A source of the application's own. A line logged during a request carries the request's id and trace. */
export function source(name: string): Source {
  const at =
    (level: Level) =>
    (message: string, fields: LogFields = {}) => {
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

/**
 * Every line logged while `f` runs carries these fields too, ahead of its own: in what it awaits, and in its timers. Of
 * two fields of one name the innermost counts. Name them under a prefix of your own.
 *
 * @example
 * ```ts
 * await Log.tags({ "shop.order": id }, () => place(order));
 * ```
 */
export function tags<A>(fields: LogFields, f: () => A): A {
  return tagged(fields, f);
}

/**
 * A function that carries this request's id, trace and tags wherever it is run: a listener of an emitter, or a callback of
 * a worker or a pool, which otherwise runs in the context of whoever calls it.
 *
 * @example
 * ```ts
 * worker.once("message", Log.carry((answer) => shop.info("hashed", { "shop.bytes": answer.bytes })));
 * ```
 */
export function carry<Args extends readonly unknown[], A>(f: (...args: Args) => A): (...args: Args) => A {
  return carried(f);
}

export type { SettingTexts } from "./writer.ts";
export type { Level } from "./entry.ts";
export type { LogFields as Fields, Format } from "./entry.ts";
export type { LogOptions } from "./writer.ts";

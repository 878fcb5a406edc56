import { needs, needsFunction, needsObject, needsOptions, needsText, shown } from "../arguments.ts";
import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import { carried, current, tagged } from "./context.ts";
import { loggedText } from "./entry.ts";
import type { Level, LogFields } from "./entry.ts";
import { isOn, readSettings, useLevels, useSettings, write } from "./writer.ts";
import type { LogOptions, SettingTexts } from "./writer.ts";

/** A named logger. */
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

/**
 * Sets levels, format and destination for the process. An option that is not given returns to its default.
 *
 * @throws TypeError for a level or a format that there is not.
 */
export function setup(options: LogOptions = {}): void {
  needsOptions("Log.setup", options, "level levels format out");
  const { level, levels = {}, format, out } = options;
  needsObject("Log.setup: levels", levels);
  for (const [source, own] of [["level", level], ...Object.entries(levels)])
    needsWord(`Log.setup: ${source}`, own, ["error", "warn", "info", "debug"]);
  needsWord("Log.setup: format", format, ["pretty", "json"]);
  needs(out === undefined || typeof out === "function", "Log.setup: out", out, "a function");
  useSettings(options);
}

// From JavaScript, or an environment variable with a cast. With an unknown level nothing would be logged at all.
function needsWord(at: string, word: unknown, words: readonly string[]): void {
  if (word === undefined || words.includes(word as string)) return;
  throw new TypeError(`${at} is ${shown(word)}, and not ${words.join(", ")} or undefined`);
}

/**
 * Sets levels and format from texts, such as environment variables or arguments; a blank one counts as absent. The
 * destination stays as `Log.setup` set it.
 *
 * @param texts `levels` is a comma-separated list: a bare level is the default, and `source=level` sets one source's. A
 *   level is
 * `error`, `warn`, `info`, `debug` or `off`, and a format `pretty` or `json`; case does not matter.
 * @returns An error that names the invalid text; then nothing is set.
 *
 * @example
 * ```ts
 * const read = Log.configure({ levels: process.env.LOG_LEVELS, format: process.env.LOG_FORMAT }); // "warn,shop=debug"
 * if (!read.ok) throw new Error(read.error);
 * ```
 */
export function configure(texts: SettingTexts): Result<void, string> {
  needsOptions("Log.configure", texts, "levels format");
  for (const name of ["levels", "format"] as const) {
    const text = texts[name];
    needs(text === undefined || typeof text === "string", `Log.configure: ${name}`, text, "a text");
  }
  const read = readSettings(texts);
  if (!read.ok) return read;
  useLevels(read.value);
  return ok();
}

/** Makes a source. A line logged during a request has the request's id and trace. */
export function source(name: string): Source {
  needsText("Log.source: its name", name);
  const at =
    (level: Level) =>
    (message: string, fields: LogFields = {}) => {
      if (!isOn(level, name)) return;
      write({ level, source: name, message: loggedText(message), fields: readable(fields), context: current() });
    };
  return { error: at("error"), warn: at("warn"), info: at("info"), debug: at("debug") };
}

/** The fields, or none where JavaScript gives what throws when it is read: the line is written all the same. */
function readable(fields: LogFields): LogFields {
  try {
    return { ...fields };
  } catch {
    return {};
  }
}

/**
 * The id of the running request: in its handler, after its awaits, in its timers. Undefined outside of a request, or where
 * `Log.setup` has turned every source off, because requests then have no context.
 */
export function requestId(): string | undefined {
  return current()?.requestId;
}

/**
 * Adds fields to every line logged while `f` runs, including what it awaits and its timers; they precede the line's own. The
 * innermost of two fields with one name wins. Use a prefix of your own for their names.
 *
 * @example
 * ```ts
 * await Log.tags({ "shop.order": id }, () => place(order));
 * ```
 */
export function tags<A>(fields: LogFields, f: () => A): A {
  needsObject("Log.tags: fields", fields);
  needsFunction("Log.tags: its work", f);
  return tagged(fields, f);
}

/**
 * Adds fields to each later line of the running request, its access line too: who sends it, once the application knows. Does nothing
 * outside of a request. The access line's own fields win. Give an id, and not a name or a mail address: lines are kept for long.
 *
 * @example
 * ```ts
 * const user = Dep.map(session, (session) => {
 *   Log.tag({ "user.id": session.data.user });
 *   return session.data;
 * });
 * ```
 */
export function tag(fields: LogFields): void {
  needsObject("Log.tag: fields", fields);
  current()?.addTags?.({ ...fields });
}

/**
 * A function that keeps this request's id, trace and tags wherever it runs, such as a listener of an emitter or a callback
 * of a worker. Without it, such a callback runs in its caller's context.
 *
 * @example
 * ```ts
 * worker.once("message", Log.carry((answer) => shop.info("hashed", { "shop.bytes": answer.bytes })));
 * ```
 */
export function carry<Args extends readonly unknown[], A>(f: (...args: Args) => A): (...args: Args) => A {
  needsFunction("Log.carry: its work", f);
  return carried(f);
}

export type { SettingTexts } from "./writer.ts";
export type { Level } from "./entry.ts";
export type { LogFields as Fields, Format } from "./entry.ts";
export type { LogOptions } from "./writer.ts";

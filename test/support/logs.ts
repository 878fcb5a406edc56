/** The log lines of a test are collected here and not written to standard error: `setup.ts` resets them for each test. */
import { Log } from "usher-http";

/** One JSON line, parsed. */
export type Line = { readonly [field: string]: unknown };

let texts: string[] = [];

/** Resets the log, with other settings than the defaults. */
export function logWith(options: Log.LogOptions): void {
  texts = [];
  Log.setup({ format: "json", out: (line) => texts.push(line), ...options });
}

/** Gives the process its default destination again. */
export function endLogging(): void {
  texts = [];
  Log.setup();
}

/** Lets go of the lines so far: what is counted next is not them. */
export function forgetLines(): void {
  texts = [];
}

/** Every line so far, as it was written. */
export function logged(): readonly string[] {
  return texts;
}

export function lines(): readonly Line[] {
  return texts.map((text) => JSON.parse(text) as Line);
}

/** The messages of one level. */
export function messages(level: Log.Level): readonly unknown[] {
  return lines().flatMap((line) => (line["level"] === level ? [line["message"]] : []));
}

/** What a test logs goes here and not to standard error. Importing this is enough to be quiet. */
import { afterEach, beforeEach } from "vitest";
import { Log } from "usher-http";

/** One JSON line, parsed. */
export type Line = { readonly [field: string]: unknown };

let texts: string[] = [];

beforeEach(() => logWith({}));
afterEach(() => Log.setup());

/** Begins anew, with other settings than the defaults. */
export function logWith(options: Log.LogOptions): void {
  texts = [];
  Log.setup({ format: "json", out: (line) => texts.push(line), ...options });
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

import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Format } from "./entry.ts";
import type { Level } from "./level.ts";
import type { LogOptions } from "./writer.ts";

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

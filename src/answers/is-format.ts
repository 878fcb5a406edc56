import type { RefusalFormat } from "./refusal-format.ts";

/** The problem of a value from JavaScript that is no format. */
export const noFormat = "refusalFormat is made with RefusalFormat.json, text or problemDetails";

/** Whether a value from JavaScript is a format. */
export function isFormat(format: unknown): format is RefusalFormat {
  const { node } = (format ?? {}) as Partial<RefusalFormat>;
  return typeof node?.problems === "function";
}

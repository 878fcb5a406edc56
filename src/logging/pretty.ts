import { counted } from "../counted.ts";
import { loggedText } from "./entry.ts";
import type { Level, LogEntry, LogFields } from "./entry.ts";

const colors: { readonly [L in Level]: string } = { error: "31", warn: "33", info: "32", debug: "34" };
const dim = "2";

/**
 * One entry for a terminal: local time, level, source, the request's id, the message, `key=value`. The frames of a stack
 * follow, one on a line.
 *
 * @param isColored Whether the terminal shows colors.
 */
export function prettyLine(entry: LogEntry, at: number, isColored = false): string {
  const { level, source, message, fields, context } = entry;
  const painted = (text: string, color: string): string => (isColored ? `\u001b[${color}m${text}\u001b[0m` : text);
  const id = context?.requestId === undefined ? "" : ` [${context.requestId}]`;
  const start = `${painted(localTime(at), dim)} ${painted(level.padEnd(5), colors[level])}`;
  const line = `${start} ${printable(source)}${id} ${printable(message)}`;
  const { "error.stack": stack, ...others } = fields;
  const shown = shownFields({ ...context?.tags, ...others }, message);
  const frames = typeof stack === "string" ? framesOf(stack) : [];
  return `${line}${shown}${frames.map((frame) => `\n    ${painted(printable(frame), dim)}`).join("")}`;
}

function shownFields(fields: LogFields, message: string): string {
  const words = new Set(message.split(/:? /));
  let text = "";
  for (const [key, value] of Object.entries(fields)) {
    // The scheme is the same for nearly every line.
    if (value === undefined || key === "url.scheme" || (mayRepeat(key, value) && words.has(loggedText(value))))
      continue;
    text += `  ${printable(key)}=${printable(shownValue(key, value))}`;
  }
  return text;
}

/**
 * Fields of these names may be left out where the message has the value already: `GET /orders 200`. A number that is no status
 * is there by chance: a body of 200 bytes.
 */
function mayRepeat(key: string, value: LogFields[string]): boolean {
  return /^(?:http|url|framework)\./.test(key) && (typeof value !== "number" || key.includes("status"));
}

function shownValue(key: string, value: LogFields[string]): string {
  // In nanoseconds.
  if (key === "duration" && typeof value === "number") return `${(value / 1e6).toFixed(1)} ms`;
  return loggedText(value);
}

/** The frames of a stack, those of the package folded into one. */
function framesOf(stack: string): readonly string[] {
  const frames: string[] = [];
  let folded = 0;
  for (const frame of [...stack.split("\n"), undefined]) {
    if (frame !== undefined && ownFrame.test(frame)) {
      folded++;
      continue;
    }
    if (folded > 0) frames.push(`... ${counted(folded, "frame")} of usher-http`);
    folded = 0;
    if (frame !== undefined && frame !== "") frames.push(frame);
  }
  return frames;
}

const ownFrame = /[\\/]usher-http[\\/](?:dist|src|adapters)[\\/]/;

// Escapes line breaks and control sequences of a terminal, whatever an application logs.
function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) =>
    character === "\n" ? "\\n" : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function localTime(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${time}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

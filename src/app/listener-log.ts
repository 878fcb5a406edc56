import type { Level } from "../logging/level.ts";
import type { Fields } from "../logging/entry.ts";
import { logRaised } from "../logging/last-net.ts";
import { log } from "../logging/writer.ts";

const nothing: Fields = {};

/** Logs what a listener has to say of itself, and of no request. */
export function say(level: Level, message: string, fields: Fields = nothing): void {
  log({ level, source: "framework.http", message, fields, context: undefined });
}

/** A head that is no request has a line of its own, and no access line. */
export function sayRefused(status: number, why: string): void {
  say("info", `refused a request head: ${status} ${why}`);
}

export function sayStopped(cut: number, drainMs: number): void {
  if (cut === 0) say("info", "stopped");
  else say("warn", `stopped with ${cut} requests unanswered after ${drainMs / 1000}s`);
}

/** What a runtime reports as gone wrong in a request of its own accord: a bug, of it or of ours. */
export function sayReported(error: unknown): void {
  logRaised("the runtime reported an error", error);
}

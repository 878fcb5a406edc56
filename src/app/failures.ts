import type { LogFields, Level } from "../logging/entry.ts";
import { describeRaised, isA, logRaised } from "../logging/raised.ts";
import type { Raised } from "../logging/raised.ts";
import { log } from "../logging/writer.ts";
import { Refusal, RefusingError, Unwritable, internal, isTellable, sentences } from "../refusals.ts";

/** A 500. */
export function internalRefusal(detail: string | undefined): Refusal<"internal"> {
  const options = detail === undefined ? {} : { detail };
  return new Refusal(internal, sentences.get("internal") as string, options);
}

/** What a thrown value is answered with: a refusal as if it had been returned, and anything else as a bug. */
export function refusalOf(thrown: unknown): Refusal {
  if (isTellable(thrown)) return thrown;
  if (isA(RefusingError, thrown) && isTellable(thrown.refusal)) return thrown.refusal;
  if (isA(Refusal, thrown)) return internalRefusal("a refusal whose code or detail is none");
  return internalRefusal(isA(Unwritable, thrown) ? thrown.message : undefined);
}

/** How loud a refusal's detail is said. Busy is no bug: the server is doing what it should. */
export function levelOf({ code }: Refusal): Level {
  return code.status >= 500 && code.name !== "busy" ? "error" : "warn";
}

/** What the log is told of a raise that no answer tells of any more: a stream's, or a socket's. */
export interface RaisedFailure {
  readonly level: Level;
  /** What goes behind the line's own words: what refuses says why, and nothing else does. */
  readonly why: string;
  readonly fields: LogFields;
}

export function failureOf(thrown: unknown): RaisedFailure {
  const refusal = refusalOf(thrown);
  const { code, detail } = refusal;
  const raised = raisedOf(thrown);
  return {
    level: levelOf(refusal),
    why: detail === undefined ? "" : `: ${code.name}: ${detail}`,
    fields: {
      "framework.refusal.code": detail === undefined ? undefined : code.name,
      "error.kind": raised?.kind,
      "error.stack": raised?.stack,
    },
  };
}

/** What a thrown value tells the log, where it is a bug: a refusal says why itself. */
export function raisedOf(thrown: unknown): Raised | undefined {
  return isTellable(thrown) ? undefined : describeRaised(thrown);
}

const nothing: LogFields = {};

/** Logs what a listener has to say of itself, and of no request. */
export function logListener(level: Level, message: string, fields: LogFields = nothing): void {
  log({ level, source: "framework.http", message, fields, context: undefined });
}

/** A head that is no request has a line of its own, and no access line. */
export function logRefusedHead(status: number, why: string): void {
  logListener("info", `refused a request head: ${status} ${why}`);
}

export function logStopped(cut: number, drainMs: number): void {
  if (cut === 0) logListener("info", "stopped");
  else logListener("warn", `stopped with ${cut} requests unanswered after ${drainMs / 1000}s`);
}

/** What a runtime reports as gone wrong in a request of its own accord: a bug, of it or of ours. */
export function sayReported(error: unknown): void {
  logRaised("the runtime reported an error", error);
}

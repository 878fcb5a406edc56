import { counted } from "../counted.ts";
import type { Level, LogFields } from "../logging/entry.ts";
import { isA, logRaised, raisedFields } from "../logging/raised.ts";
import { log } from "../logging/writer.ts";
import { Refusal, RefusingError, InvalidAnswerError, internalRefusal, isRefusal } from "../refusals.ts";

/** The refusal that answers a thrown value: a thrown refusal itself, and 500 `internal` for anything else. */
export function refusalOf(thrown: unknown): Refusal {
  if (isRefusal(thrown)) return thrown;
  if (isA(RefusingError, thrown) && isRefusal(thrown.refusal)) return thrown.refusal;
  if (isA(Refusal, thrown)) return internalRefusal("a refusal whose code or detail is none");
  return internalRefusal(isA(InvalidAnswerError, thrown) ? thrown.message : undefined);
}

/** The log level of a refusal's detail. `busy` is a warning: the server works as it should. */
export function levelOf({ code }: Refusal): Level {
  return code.status >= 500 && code.name !== "busy" ? "error" : "warn";
}

/** The log fields of an exception after the answer was sent: in a stream or a socket. */
export interface RaisedFailure {
  readonly level: Level;
  /** Ends the message: a refusal's code and detail, and nothing for any other exception. */
  readonly why: string;
  readonly fields: LogFields;
}

export function failureOf(thrown: unknown, place?: () => string | undefined): RaisedFailure {
  const refusal = refusalOf(thrown);
  const { code, detail } = refusal;
  return {
    level: levelOf(refusal),
    why: detail === undefined ? "" : `: ${code.name}: ${detail}`,
    fields: {
      "framework.refusal.code": detail === undefined ? undefined : code.name,
      ...(isRefusal(thrown) ? {} : raisedFields(thrown, place)),
    },
  };
}

const nothing: LogFields = {};

/** Logs an event of a listener that belongs to no request. */
export function logListener(level: Level, message: string, fields: LogFields = nothing): void {
  log({ level, source: "framework.http", message, fields, context: undefined });
}

/** Logs a malformed request head, which has no access line. */
export function logRefusedHead(status: number, why: string): void {
  logListener("info", `refused a request head: ${status} ${why}`);
}

/** What is open on a server. */
export interface InFlightCounts {
  /** The requests whose answers have not ended: also those that are streamed, and not those of sockets. */
  readonly requests: number;
  /** The open WebSockets. */
  readonly sockets: number;
}

export function logStopping({ requests, sockets }: InFlightCounts): void {
  const besides = sockets === 0 ? "" : ` and ${counted(sockets, "socket")}`;
  logListener("info", `stopping, with ${counted(requests, "request")}${besides} in flight`);
}

export function logStopped(cut: number, drainMs: number): void {
  if (cut === 0) logListener("info", "stopped");
  else logListener("warn", `stopped with ${counted(cut, "request")} unanswered after ${drainMs / 1000}s`);
}

/** Logs what a server that stops did not wait for. */
export function logUnsettled(count: number): void {
  if (count === 0) return;
  const after = count === 1 ? "its answer" : "their answers";
  logListener("warn", `stopping, although the work of ${counted(count, "request")} after ${after} has not ended`);
}

/** The most names of works in one line. */
const maxNames = 10;

/** Logs which work of the application's own a server that stops did not wait for. */
export function logRunning(names: readonly string[]): void {
  if (names.length === 0) return;
  const listed = [...new Set(names)].slice(0, maxNames).join(", ");
  logListener("warn", `stopping, although work in the background has not ended (${names.length}): ${listed}`);
}

/** Logs an error that a runtime reported by itself: a bug of the runtime's or of the framework's. */
export function logReported(error: unknown): void {
  logRaised("the runtime reported an error", error);
}

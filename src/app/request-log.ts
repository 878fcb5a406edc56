import { AccessEntry } from "./access-entry.ts";
import type { Answer } from "../answers/answer.ts";
import type { Level } from "../logging/level.ts";
import type { Fields } from "../logging/entry.ts";
import { isAnyOn, isOn, log, write } from "../logging/writer.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { Inside } from "./middleware.ts";
import type { AskedExchange } from "./asked.ts";
import { levelOf, raisedOf } from "./failure.ts";

const source = "framework.http";

/** Logs that a request was answered, at its route's level. */
export function logAccess(asked: AskedExchange, answer: Answer, size: number): void {
  if (!isAnyOn()) return;
  const level = asked.route?.accessLevel ?? "info";
  if (isOn(level, source)) write(new AccessEntry(level, asked, answer, size));
}

/** A refusal's detail, which only the log is told. */
export function logRefusal(asked: AskedExchange, refusal: Refusal): void {
  const { code, detail } = refusal;
  const message = `${asked.method} ${asked.path}: ${code.name}: ${detail}`;
  line(asked, levelOf(refusal), message, refusalFields(asked, refusal));
}

/** The details of what was refused inside of middleware that answered something else. */
export function logReplaced(asked: AskedExchange, { refused }: Inside, answer: Answer): void {
  for (const refusal of refused) {
    if (refusal !== answer.refused && refusal.detail !== undefined) logRefusal(asked, refusal);
  }
}

/**
 * A raise: its kind and where it came from. What it said only where that is known to hold no value: in what refuses, and in
 * what is wrong with an answer.
 */
export function logRaise(asked: AskedExchange, refusal: Refusal, thrown: unknown): void {
  const raised = raisedOf(thrown);
  if (raised === undefined) return;
  const why = refusal.detail ?? "it raised";
  line(asked, levelOf(refusal), `${asked.method} ${asked.path}: ${refusal.code.name}: ${why}`, {
    ...refusalFields(asked, refusal),
    "error.kind": raised.kind,
    "error.stack": raised.stack,
  });
}

/** A raise of what only looks on, which changes nothing of the answer. */
export function logFault(asked: AskedExchange, what: string, thrown: unknown): void {
  const raised = raisedOf(thrown);
  line(asked, "error", `${asked.method} ${asked.path}: ${what} raised`, {
    "url.path": asked.path,
    "error.kind": raised?.kind,
    "error.stack": raised?.stack,
  });
}

/** What the application answered and had not declared: a bug. */
export function logUndeclared(asked: AskedExchange, undeclared: string): void {
  line(asked, "error", undeclared, { "url.path": asked.path, "http.route": asked.route?.route.pattern });
}

function refusalFields(asked: AskedExchange, refusal: Refusal): Fields {
  return {
    "http.request.method": asked.method,
    "url.path": asked.path,
    "framework.refusal.code": refusal.code.name,
    "http.route": asked.route?.route.pattern,
  };
}

function line(asked: AskedExchange, level: Level, message: string, fields: Fields): void {
  log({ level, source, message, fields, context: asked.context });
}

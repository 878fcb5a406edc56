import { shown } from "../arguments.ts";
import { isToken } from "../http/fields.ts";
import { expectDeadlines } from "../logging/context.ts";
import { deadline } from "../routing/meta.ts";
import type { Route } from "../routing/route.ts";

// A longer timer would fire at once.
const maxMs = 2 ** 31 - 1;

/** The deadlines of an app and its routes, as they are declared. */
interface DeadlineOptions {
  readonly deadlineMs?: number;
  readonly deadlineHeader?: string;
}

/** Checks the deadlines of an app and of its routes. Returns the name of the caller's header, in lower case. */
export function checkDeadlines(
  { deadlineMs, deadlineHeader }: DeadlineOptions,
  routes: readonly Route[],
  problems: string[],
): string | undefined {
  let has = deadlineMs !== undefined;
  if (has && !isTime(deadlineMs)) problems.push(`deadlineMs is ${time}, and not ${shown(deadlineMs)}`);
  for (const { method, pattern, meta } of routes) {
    const own = meta.find(deadline);
    if (own === undefined || own === "none") continue;
    has = true;
    if (!isTime(own)) {
      problems.push(`${method} ${pattern}: its Meta.deadline is ${time}, or "none", and not ${shown(own)}`);
    }
  }
  if (has) expectDeadlines();
  if (deadlineHeader === undefined) return undefined;
  if (typeof deadlineHeader !== "string" || !isToken(deadlineHeader)) {
    problems.push(`deadlineHeader is the name of a header, and not ${shown(deadlineHeader)}`);
    return undefined;
  }
  if (!has)
    problems.push("deadlineHeader needs a deadline that bounds it: set deadlineMs, or Meta.deadline of a route");
  return deadlineHeader.toLowerCase();
}

const time = `a whole number of milliseconds from 1 to ${maxMs}`;

function isTime(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= maxMs;
}

import { getGlobalConfig } from "valibot";
import type { Action, Issue, Kind } from "./kind.ts";

/** The author's own words where the part carries any, else ours. */
export function said(part: Kind | Action, value: unknown, sentence: string): string {
  if (part.message === undefined) return sentence;
  if (typeof part.message === "string") return part.message;
  // A function of Valibot's issue: only Valibot can make the issue.
  const [issue] = issuesOf(part, value);
  return issue === undefined ? sentence : (authored(issue) ?? sentence);
}

/** Runs one part as Valibot would. */
function issuesOf(part: Kind | Action, value: unknown): readonly Issue[] {
  return part["~run"]({ typed: true, value }, getGlobalConfig()).issues ?? [];
}

/** The words of an issue if its author wrote them: Valibot's own quote what was received, so they must not be sent. */
export function authored(issue: Issue): string | undefined {
  const byValibot = issue.message.startsWith("Invalid ") && issue.message.endsWith(`eceived ${issue.received}`);
  return byValibot ? undefined : issue.message;
}

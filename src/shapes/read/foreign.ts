import { getGlobalConfig } from "valibot";
import { told } from "../formats.ts";
import type { Action, Dataset, Issue, Kind } from "../kind.ts";
import { itsName } from "../place.ts";
import { authored } from "../said.ts";
import { required, unknownMember } from "../sentences.ts";
import { freeReader } from "./free.ts";
import type { Reader, Reading } from "./reading.ts";

/** A shape only Valibot can judge, read by Valibot's own run once it is known to be JSON that is safe to hand on. */
export function foreignReader(shape: Kind): Reader {
  return {
    ...freeReader,
    read: (value, reading) => {
      const { count } = reading;
      const json = freeReader.read(value, reading);
      return reading.count === count ? run(shape, { value: json }, reading) : undefined;
    },
  };
}

/** Runs a part as Valibot does, and tells its issues as problems. */
export function run(part: Kind | Action, dataset: Dataset, reading: Reading): unknown {
  const outcome = part["~run"](dataset, getGlobalConfig());
  for (const issue of outcome.issues ?? []) report(issue, reading);
  if (outcome.issues === undefined || outcome.typed === true) return outcome.value;
  reading.valueless++;
  return undefined;
}

/** Tells one issue at the place its path names, from where the reader stands. */
export function report(issue: Issue, reading: Reading): void {
  const level = reading.depth;
  for (const { key } of issue.path ?? []) reading.path[reading.depth++] = typeof key === "number" ? key : String(key);
  const ofName = issue.path?.at(-1)?.origin === "key";
  if (ofName && issue.received === "undefined") reading.breaks("required", required);
  else if (ofName && issue.expected === "never") reading.breaks("unknown_member", unknownMember);
  else {
    if (ofName) reading.path[reading.depth++] = itsName;
    const { code, sentence } = told(issue);
    reading.breaks(code, authored(issue) ?? sentence);
  }
  reading.depth = level;
}

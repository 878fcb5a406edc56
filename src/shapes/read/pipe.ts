import { getGlobalConfig } from "valibot";
import type { Action, Kind, Scalar } from "../kind.ts";
import { flattened, wholeBy } from "../pipe-parts.ts";
import { changesNothing, keepsSort, textChanges } from "../transformations.ts";
import { boundCheck } from "./bounds.ts";
import { report, run } from "./foreign.ts";
import { freeReader } from "./free.ts";
import { wholeReader } from "./scalar.ts";
import type { Check, Compile, Read, Reader } from "./reading.ts";

/** One thing behind the first schema of a pipe. */
type Step =
  | { readonly kind: "bound"; readonly check: Check }
  /** Wants a value of the type, however many bounds it broke. */
  | { readonly kind: "check"; readonly action: Action }
  /** Wants a value nothing is wrong with. */
  | { readonly kind: "change"; readonly read: Read };

export function pipeReader(shape: Kind, compile: Compile<Kind>): Reader {
  const [first, ...behind] = flattened(shape);
  const integer = wholeBy(first, behind);
  const base = integer === undefined ? compile(first) : wholeReader(first as Scalar, integer);
  const steps = stepsOf(
    behind.filter((item) => item !== integer && item.kind !== "metadata" && !changesNothing.has(item.type)),
    compile,
  );
  if (steps.length === 0) return base;

  const partial = behind.some((item) => item.type === "partial_check" || item.type === "raw_check");
  const read: Read = (value, reading) => {
    const { count, valueless } = reading;
    let result = base.read(value, reading);
    for (const step of steps) {
      if (step.kind === "bound") step.check(result, reading);
      else if (step.kind === "check") {
        if (reading.valueless === valueless) result = run(step.action, { typed: true, value: result }, reading);
      } else if (reading.count === count) result = step.read(result, reading);
      else {
        reading.valueless++;
        return undefined;
      }
    }
    return result;
  };
  return { ...base, read: partial ? withPartialChecks(shape, read) : read };
}

function stepsOf(items: readonly (Kind | Action)[], compile: Compile<Kind>): Step[] {
  let json = true;
  return items.map((item): Step => {
    if (item.kind === "schema") {
      // Behind a transformation stands whatever it made, and not JSON any more.
      const read: Read = json ? compile(item).read : (value, reading) => run(item, { value }, reading);
      return { kind: "change", read };
    }
    if (item.kind === "transformation") {
      json &&= keepsSort.has(item.type);
      const change = textChanges.get(item.type);
      if (change !== undefined) return { kind: "change", read: (value) => change(value as string) };
      return { kind: "change", read: (value, reading) => run(item, { typed: true, value }, reading) };
    }
    const check = boundCheck(item);
    return check === undefined ? { kind: "check", action: item } : { kind: "bound", check };
  });
}

/** Checks that look at a part of the value run although another part went wrong; only Valibot knows which can. */
function withPartialChecks(shape: Kind, read: Read): Read {
  return (value, reading) => {
    const { valueless } = reading;
    const result = read(value, reading);
    if (reading.valueless === valueless) return result;
    const json = freeReader.read(value, reading.aside());
    for (const issue of shape["~run"]({ value: json }, getGlobalConfig()).issues ?? []) {
      if (issue.type === "partial_check" || issue.type === "raw_check") report(issue, reading);
    }
    return result;
  };
}

import { getGlobalConfig } from "valibot";
import { problemOf } from "./formats.ts";
import { everySort, memberName, mustBe, required, sortOf, tooDeep, unknownMember } from "./messages.ts";
import { isDeepValue } from "./parse-json.ts";
import { copyOf, anyReader } from "./read-container.ts";
import { boundCheck, wholeReader } from "./read-scalar.ts";
import type { ValueCheck, Compile, ReadValue, Reader, JsonReading } from "./reading.ts";
import {
  InvalidValue,
  messageByAuthor,
  changesNothing,
  flattened,
  keepsSort,
  authorMessage,
  textChanges,
  wholeBy,
} from "./valibot.ts";
import type { Action, Dataset, Issue, Kind, BuiltIn, Scalar, Wrapper } from "./valibot.ts";

/** Shapes that allow a value to be absent or null, or forbid it again. */
export function optionalReader(shape: Wrapper, compile: Compile<Kind>): Reader {
  const wrapped = compile(shape.wrapped);
  switch (shape.type) {
    case "optional":
    case "exact_optional":
      return absentReader(shape, wrapped, compile);
    case "nullable":
    case "nullish":
      return nullableReader(shape, wrapped);
    case "undefinedable":
      return {
        ...wrapped,
        read: (value, reading) => {
          const given = value === undefined ? defaultOf(shape, undefined) : value;
          return given === undefined ? undefined : wrapped.read(given, reading);
        },
      };
    default:
      return requiredReader(shape, wrapped, compile);
  }
}

/** A client may send null for an absent member, unless null is a value of the shape. */
function absentReader(shape: Wrapper, wrapped: Reader, compile: Compile<Kind>): Reader {
  let takesNull: boolean | undefined;
  return {
    sorts: () => [...new Set([...wrapped.sorts(), "null" as const])],
    expected: wrapped.expected,
    read: (value, reading) => {
      if (value !== undefined && value !== null) return wrapped.read(value, reading);
      if (value === null && (takesNull ??= hasNull(shape.wrapped, compile))) return wrapped.read(null, reading);
      const instead = defaultOf(shape, undefined);
      return instead === undefined ? undefined : wrapped.read(instead, reading);
    },
  };
}

/** Whether null is a value of a shape. Of an optional one it stands for no value, also where `v.partial` made that optional again. */
function hasNull(shape: Kind, compile: Compile<Kind>): boolean {
  const mayBeAbsent = shape.type === "optional" || shape.type === "exact_optional" || shape.type === "undefinedable";
  return mayBeAbsent ? hasNull(shape.wrapped, compile) : compile(shape).sorts().includes("null");
}

function nullableReader(shape: Wrapper, wrapped: Reader): Reader {
  const expected = (): readonly string[] => [...wrapped.expected(), "null"];
  let taken: readonly string[] | undefined;
  return {
    sorts: () => [...new Set([...wrapped.sorts(), "null" as const])],
    expected,
    read: (value, reading) => {
      if (value !== null && value !== undefined) {
        if ((taken ??= wrapped.sorts()).includes(sortOf(value))) return wrapped.read(value, reading);
        return reading.wrong("unexpected_type", authorMessage(shape.wrapped, value, mustBe(expected(), value)));
      }
      const instead = defaultOf(shape, value);
      return instead === null || instead === undefined ? instead : wrapped.read(instead, reading);
    },
  };
}

function requiredReader(shape: Wrapper, wrapped: Reader, compile: Compile<Kind>): Reader {
  const refusesNull = shape.type !== "non_optional";
  let isTaken: boolean | undefined;
  const takesNull = (): boolean => (isTaken ??= !refusesNull && hasNull(shape.wrapped, compile));
  return {
    sorts: () => wrapped.sorts().filter((sort) => sort !== "null" || takesNull()),
    expected: () => wrapped.expected().filter((word) => word !== "null" || takesNull()),
    read: (value, reading) => {
      const count = reading.count;
      const absent = refusesNull ? null : undefined;
      const read = value === null && !takesNull() ? absent : wrapped.read(value, reading);
      if (reading.count !== count) return read;
      if (read === undefined && shape.type !== "non_nullable") return reading.wrong("required", required);
      if (read !== null || !refusesNull) return read;
      const words = wrapped.expected().filter((word) => word !== "null");
      return reading.wrong("unexpected_type", authorMessage(shape, value, mustBe(words, null)));
    },
  };
}

/** The default of an absent value, in its JSON form; a list or an object is copied each time. */
function defaultOf(shape: Wrapper, absent: null | undefined): unknown {
  const given = shape.default;
  if (given === undefined) return absent;
  return typeof given === "function" ? given({ value: absent }, getGlobalConfig()) : copyOf(given);
}

/** `v.fallback`: replaces an invalid value without a problem. */
export function fallbackReader(shape: Kind, compile: Compile<Kind>): Reader {
  const { fallback, ...without } = shape;
  const inner = compile(without);
  return {
    sorts: () => everySort,
    expected: inner.expected,
    read: (value, reading) => {
      const trial = reading.trial();
      const read = inner.read(value, trial);
      if (trial.count === 0) return read;
      return typeof fallback === "function" ? fallback({ value }, getGlobalConfig()) : copyOf(fallback);
    },
  };
}

/** A shape that only Valibot can validate, after the value was read as safe JSON. */
export function valibotReader(shape: Kind): Reader {
  return {
    ...anyReader,
    read: (value, reading) => {
      const { count } = reading;
      const json = anyReader.read(value, reading);
      return reading.count === count ? runPart(shape, { value: json }, reading) : undefined;
    },
  };
}

/** Runs a part as Valibot does, and adds its issues as problems. */
function runPart(part: Kind | Action, dataset: Dataset, reading: JsonReading): unknown {
  const outcome = part["~run"](dataset, getGlobalConfig());
  for (const issue of outcome.issues ?? []) report(issue, reading, part);
  if (outcome.issues === undefined || outcome.typed === true) return outcome.value;
  reading.valueless++;
  return undefined;
}

/** Adds one issue at the place of its path, relative to the reader's place. */
function report(issue: Issue, reading: JsonReading, part: Kind | Action): void {
  const level = reading.depth;
  for (const { key } of issue.path ?? []) reading.path[reading.depth++] = typeof key === "number" ? key : String(key);
  const ofName = issue.path?.at(-1)?.origin === "key";
  if (ofName && issue.received === "undefined") reading.breaks("required", required);
  else if (ofName && issue.expected === "never") reading.breaks("unknown_member", unknownMember);
  else {
    if (ofName) reading.path[reading.depth++] = memberName;
    const { code, sentence } = problemOf(issue);
    reading.breaks(code, messageByAuthor(issue, part) ?? sentence);
  }
  reading.depth = level;
}

export function builtInReader(builtIn: BuiltIn): Reader {
  return {
    sorts: () => builtIn.sorts,
    expected: () => builtIn.expected,
    read: (sent, reading) => {
      const value = builtIn.read(sent);
      return value instanceof InvalidValue ? reading.wrong(value.code, value.message) : value;
    },
  };
}

/** One step after the first schema of a pipe. */
type PipeStep =
  | { readonly kind: "bound"; readonly check: ValueCheck }
  /** Needs a value of the type, also after broken bounds. */
  | { readonly kind: "check"; readonly action: Action }
  /** Needs a value without problems. */
  | { readonly kind: "change"; readonly read: ReadValue };

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
  const read: ReadValue = (value, reading) => {
    const { count, valueless } = reading;
    let result = base.read(value, reading);
    for (const step of steps) {
      if (step.kind === "bound") step.check(result, reading);
      else if (step.kind === "check") {
        if (reading.valueless === valueless) result = runPart(step.action, { typed: true, value: result }, reading);
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

function stepsOf(items: readonly (Kind | Action)[], compile: Compile<Kind>): PipeStep[] {
  let json = true;
  return items.map((item): PipeStep => {
    if (item.kind === "schema") {
      // After a transformation the value is not JSON any more.
      const read: ReadValue = json ? compile(item).read : (value, reading) => runPart(item, { value }, reading);
      return { kind: "change", read };
    }
    if (item.kind === "transformation") {
      if (parsesJson(item)) {
        json = true;
        return { kind: "change", read: (text, reading) => parsedText(item, text, reading) };
      }
      json &&= keepsSort.has(item.type);
      const change = textChanges.get(item.type);
      if (change !== undefined) return { kind: "change", read: (value) => change(value as string) };
      // Another shape may read the same value: it gets it as it was sent, though a transformation sorts its list in place.
      const own: ReadValue = (value, { outcomes }) => (outcomes === undefined ? value : copyOf(value));
      return {
        kind: "change",
        read: (value, reading) => runPart(item, { typed: true, value: own(value, reading) }, reading),
      };
    }
    const check = boundCheck(item);
    return check === undefined ? { kind: "check", action: item } : { kind: "bound", check };
  });
}

/** Whether what a transformation makes is JSON, and no value of a reviver. */
function parsesJson({ type, config }: Action): boolean {
  return type === "parse_json" && config?.reviver === undefined;
}

/** The JSON that a text holds. It is read as deep as a body is. */
function parsedText(item: Action, text: unknown, reading: JsonReading): unknown {
  const json = runPart(item, { typed: true, value: text }, reading);
  return isDeepValue(json) ? reading.wrong("too_deep", tooDeep) : json;
}

/** Checks of a part of the value run although another part is invalid; only Valibot knows which can, and runs those within too. */
function withPartialChecks(shape: Kind, read: ReadValue): ReadValue {
  return (value, reading) => {
    const { valueless, isCheckedAround } = reading;
    reading.isCheckedAround = true;
    const result = read(value, reading);
    reading.isCheckedAround = isCheckedAround;
    if (reading.valueless === valueless || isCheckedAround) return result;
    const json = anyReader.read(value, reading.trial());
    for (const issue of shape["~run"]({ value: json }, getGlobalConfig()).issues ?? []) {
      if (issue.type === "partial_check" || issue.type === "raw_check") report(issue, reading, shape);
    }
    return result;
  };
}

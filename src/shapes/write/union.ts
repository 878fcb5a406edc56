import type { Choice, Kind, Variant } from "../kind.ts";
import { isObject } from "../read/names.ts";
import { tagsOf } from "../read/tag.ts";
import { oneOf } from "../sentences.ts";
import type { CompileWrite, Outcome, Write, Writing } from "./writing.ts";

export function unionWriter(shape: Choice, compile: CompileWrite<Kind>): Write {
  return firstThatFits(shape.options.map((option) => compile(option)));
}

export function variantWriter(shape: Variant, compile: CompileWrite<Kind>): Write {
  const tags = shape.options.map((option) => tagsOf(option, shape.key));
  if (tags.includes("open")) return firstThatFits(shape.options.map((option) => compile(option)));

  const byTag = new Map<unknown, Write[]>();
  shape.options.forEach((option, index) => {
    const write = compile(option);
    for (const tag of tags[index] as readonly unknown[]) byTag.set(tag, [...(byTag.get(tag) ?? []), write]);
  });
  const writers = new Map([...byTag].map(([tag, options]) => [tag, firstThatFits(options)]));
  const expected = oneOf([...byTag.keys()].filter((tag) => tag !== undefined));
  return (value, writing) => {
    if (!isObject(value)) return writing.refuse("an object", value);
    const write = writers.get(value[shape.key]);
    if (write !== undefined) return write(value, writing);
    writing.path[writing.depth++] = shape.key;
    return writing.fail(`must be ${expected}`);
  };
}

/** Writes by the first shape the value is of; nested trials remember, or each level would double the work. */
function firstThatFits(options: readonly Write[]): Write {
  const [only] = options;
  if (only !== undefined && options.length === 1) return only;
  return (value, writing) => {
    if (writing.outcomes === undefined || typeof value !== "object" || value === null) {
      return attempt(options, value, writing);
    }
    let known = writing.outcomes.get(options);
    if (known === undefined) writing.outcomes.set(options, (known = new WeakMap()));
    const before = known.get(value);
    if (before !== undefined) {
      writing.failure = before.failure;
      return before.written;
    }
    const written = attempt(options, value, writing);
    known.set(value, { written, failure: writing.failure });
    return written;
  };
}

/** The first shape that names every member of the value; failing that, the first that can be written at all. */
function attempt(options: readonly Write[], value: unknown, writing: Writing): unknown {
  const { depth, outcomes } = writing;
  writing.outcomes ??= new Map();
  let best: Outcome | undefined;
  for (const write of options) {
    const written = write(value, writing);
    const { failure } = writing;
    writing.depth = depth;
    writing.failure = undefined;
    if (failure !== undefined) continue;
    best ??= { written, failure };
    if (keepsAll(value, written)) {
      best = { written, failure };
      break;
    }
  }
  writing.outcomes = outcomes;
  return best === undefined ? writing.fail("is of none of the shapes it may have") : best.written;
}

function keepsAll(value: unknown, written: unknown): boolean {
  if (!isObject(value) || !isObject(written)) return true;
  return Object.keys(value).every((name) => value[name] === undefined || name in written);
}

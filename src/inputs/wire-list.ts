/** The style `list` of `wire.ts`: `?tag=a&tag=b`, and `x-tag: a, b`. */
import { counted } from "../counted.ts";
import type { AnyCodec, ListBounds } from "../codecs/codec.ts";
import { Problem } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";
import { maxReportLength } from "../schema/reading.ts";
import { WrongText, noText, problemOrRefusal } from "./text.ts";
import type { GivenField } from "./text.ts";

/** The schema of a list. */
export function listSchema(
  items: object,
  { minItems, maxItems }: ListBounds,
): { readonly type: "array"; readonly items: object } {
  return {
    type: "array",
    items,
    ...(minItems === undefined ? {} : { minItems }),
    ...(maxItems === undefined ? {} : { maxItems }),
  };
}

/** Whether a list must have an item, so that it must be sent. */
export function isNeeded(bounds: ListBounds | null): boolean {
  // From JavaScript it may be null, which `App.make` refuses.
  return (bounds?.minItems ?? 0) > 0;
}

/** The problem of a list with too few or too many items, as that of a body's list. */
export function lengthProblem(at: string, count: number, bounds: ListBounds): Problem | undefined {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = bounds;
  if (count < minItems) return new Problem(at, "too_few", `This must have at least ${counted(minItems, "item")}.`);
  if (count > maxItems) return new Problem(at, "too_many", `This must have at most ${counted(maxItems, "item")}.`);
  return undefined;
}

/** Reads the items of a list: the values, or its problems. */
type ReadList = (given: Iterable<GivenField>, maxProblems: number) => unknown;

/**
 * Compiles the reader of a list. A codec's first unreadable item is one problem at the list's place. A schema's items each
 * have their problems, at `query.tag[2]`, as the items of a body's list have.
 */
export function listReader(codec: AnyCodec, at: string, bounds: ListBounds): ReadList {
  return (given, maxProblems) => {
    const values: unknown[] = [];
    let problems: ListProblems | undefined;
    let count = 0;
    for (const text of given) {
      const index = count++;
      if (problems?.isEnough === true) continue;
      const read = typeof text === "string" ? codec.parse(text) : new WrongText([noText(codec, text, at)]);
      if (read.ok) values.push(read.value);
      else (problems ??= new ListProblems(codec, at, maxProblems)).add(read, index);
    }
    const wrong = lengthProblem(at, count, bounds);
    if (problems === undefined) return wrong ?? values;
    if (wrong !== undefined) problems.list(wrong);
    return problems.outcome();
  };
}

/** Problems of one input. Past a number of them, further problems are only counted. */
export class BoundedProblems {
  readonly #max: number;
  readonly #problems: Problem[] = [];
  #length = 0;
  #more = 0;

  constructor(max: number) {
    this.#max = max;
  }

  list(problem: Problem): void {
    if (this.#problems.length >= this.#max || this.#length >= maxReportLength) {
      this.#more++;
      return;
    }
    this.#length += problem.at.length + problem.message.length;
    this.#problems.push(problem);
  }

  /** Counts problems that are listed nowhere. */
  count(more: number): void {
    this.#more += more;
  }

  outcome(): Problem | Refusal {
    return problemOrRefusal(this.#problems, this.#more);
  }
}

/** The problems of one list. */
class ListProblems extends BoundedProblems {
  readonly #codec: AnyCodec;
  readonly #at: string;
  /** Whether further items need not be read: a codec has one problem in a list. */
  isEnough = false;

  constructor(codec: AnyCodec, at: string, max: number) {
    super(max);
    this.#codec = codec;
    this.#at = at;
  }

  add(read: { readonly error: string }, index: number): void {
    if (this.#codec.schema === undefined) {
      this.isEnough = true;
      this.list(new Problem(this.#at, "malformed", read.error));
      return;
    }
    for (const { at, code, message } of (read as WrongText).problems) {
      this.list(new Problem(`${this.#at}[${index}]${at.slice(this.#at.length)}`, code, message));
    }
  }
}

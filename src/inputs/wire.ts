import type { AnyCodec, ListBounds } from "../codecs/codec.ts";
import { Problem } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";
import { counted } from "../schema/messages.ts";
import { maxReportLength } from "../schema/reading.ts";
import { WrongText, noText, problemOrRefusal } from "./text.ts";
import type { GivenField } from "./text.ts";

/**
 * How an input of one name is sent: one text, or a list of texts. A list in a query, a form or a cookie repeats the name
 * (`?tag=a&tag=b`, OpenAPI's `form`); a list in a header has commas (`x-tag: a, b`, OpenAPI's `simple`).
 *
 * This file has what the server does with each style: it reads the texts, and describes them. `wire-write.ts` is the side of a caller:
 * a file of its own without imports, as the typed client in a browser and the page of the API document load it, and `usher client`
 * copies it. A program without an API document has no code of `describing` in its bundle.
 */
export type Style = "text" | "list";

/** A JSON Schema. */
interface Described {
  [keyword: string]: unknown;
}

/** What the API document, the tools and the command say of a style. */
interface Description {
  /** The schema of the input, from that of one text. */
  readonly schema: (one: Described, bounds: ListBounds) => Described;
  /** A value of the input, each text of it replaced. */
  readonly replaced: (value: unknown, each: (one: unknown) => unknown) => unknown;
  /** The TypeScript type that a caller gives, from that of one text. */
  readonly type: (one: string) => string;
  /** Whether a default can be written into the schema. */
  readonly hasDefault: boolean;
  /** Follows the name in a list of routes. */
  readonly mark: string;
}

export const describing: { readonly [S in Style]: Description } = {
  text: {
    schema: (one) => one,
    replaced: (value, each) => each(value),
    type: (one) => one,
    hasDefault: true,
    mark: "",
  },
  list: {
    schema: listSchema,
    replaced: (value, each) => (value as readonly unknown[]).map(each),
    type: (one) => `readonly (${one})[]`,
    hasDefault: false,
    mark: "...",
  },
};

/** The schema of a list. */
export function listSchema(items: Described, { minItems, maxItems }: ListBounds): Described {
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

/** The problems of one list. Past a number of them, further problems are only counted. */
class ListProblems {
  readonly #codec: AnyCodec;
  readonly #at: string;
  readonly #max: number;
  readonly #problems: Problem[] = [];
  #length = 0;
  #more = 0;
  /** Whether further items need not be read: a codec has one problem in a list. */
  isEnough = false;

  constructor(codec: AnyCodec, at: string, max: number) {
    this.#codec = codec;
    this.#at = at;
    this.#max = max;
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

  list(problem: Problem): void {
    if (this.#problems.length >= this.#max || this.#length >= maxReportLength) {
      this.#more++;
      return;
    }
    this.#length += problem.at.length + problem.message.length;
    this.#problems.push(problem);
  }

  outcome(): Problem | Refusal {
    return problemOrRefusal(this.#problems, this.#more);
  }
}

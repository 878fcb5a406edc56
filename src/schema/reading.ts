import { Problem, maxListedProblems, setLogged } from "../refusals.ts";
import { ClientSentence, jsonPath } from "./messages.ts";
import type { Sentence, Sort, Step } from "./messages.ts";

/** A JSON object. */
export interface Members {
  [name: string]: unknown;
}

export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function hasOwn(value: Members, name: string): boolean {
  return Object.prototype.hasOwnProperty.call(value, name);
}

/** Names that would change a prototype when an application copies the object; Valibot's records skip them too. */
export function isNeverRead(name: string): boolean {
  return name === "__proto__" || name === "constructor" || name === "prototype";
}

/** Reads one value. The result counts only if the reading found no problem meanwhile. */
export type ReadValue = (value: unknown, reading: JsonReading) => unknown;

/** Checks one rule; `undefined` is a value that could not be read, and passes. */
export type ValueCheck = (value: unknown, reading: JsonReading) => void;

/** A shape, compiled. */
export interface Reader {
  readonly read: ReadValue;
  /** The sorts of JSON value that it accepts; called only while reading, so that a recursive shape is complete. */
  readonly sorts: () => readonly Sort[];
  /** What it expects, in the words of `This must be …`. */
  readonly expected: () => readonly string[];
}

/** Compiles a part of a shape. */
export type Compile<Part> = (part: Part) => Reader;

/** The outcomes of values by the reader that tried them. */
export type Outcomes = Map<object, WeakMap<object, ReadOutcome>>;
export interface ReadOutcome {
  readonly value: unknown;
  readonly found: JsonReading;
}

// A body of 1 MiB can have an invalid value in every second byte, each at a place as long as the body's longest name. Beyond
// a number of problems, or of characters in their places and sentences, problems are only counted.
export const maxReportLength: number = 1024 * 1024;

/** One body that is being read: the current place, and the problems so far. */
export class JsonReading {
  /** All problems, listed or not. A reader compares the count before and after a part to see whether it is valid. */
  count = 0;
  /** The number of problems without a value; a broken bound leaves one. */
  valueless = 0;
  depth = 0;
  readonly root: string;
  readonly path: Step[];
  readonly problems: Problem[] = [];
  /** Whether checks of parts run for a value around this one, and then for this one too. */
  isCheckedAround = false;
  /** The number of problems that are not listed. */
  more = 0;
  /** The outcomes of values that may be read again, kept only within a trial. */
  readonly outcomes: Outcomes | undefined;
  readonly #max: number;
  readonly #ownNames: (() => ReadonlySet<string>) | undefined;
  #length = 0;

  /**
   * @param max How many problems are listed.
   * @param ownNames The names that the log may have of a place; where they are not given, its problems are not logged.
   */
  constructor(
    root: string,
    max: number = maxListedProblems,
    ownNames?: () => ReadonlySet<string>,
    trialOf?: JsonReading,
  ) {
    this.root = root;
    this.#max = max;
    this.#ownNames = ownNames;
    this.path = trialOf?.path ?? [];
    this.depth = trialOf?.depth ?? 0;
    this.outcomes = trialOf === undefined ? undefined : (trialOf.outcomes ?? new Map());
  }

  /** The value breaks a rule and is still a value of its sort. */
  breaks(code: string, sentence: Sentence): void {
    this.count++;
    if (this.#isFull) this.more++;
    else this.#list(this.#problem(code, sentence));
  }

  #problem(code: string, sentence: Sentence): Problem {
    const { root, path, depth } = this;
    const isClients = sentence instanceof ClientSentence;
    const problem = new Problem(jsonPath(root, path, depth), code, isClients ? sentence.text : sentence);
    if (this.#ownNames === undefined) return problem;
    const isNamed = path.slice(0, depth).some((step) => typeof step === "string");
    const at = isNamed ? jsonPath(root, path, depth, this.#ownNames()) : problem.at;
    if (isClients || at !== problem.at) setLogged(problem, at, isClients ? undefined : sentence);
    return problem;
  }

  /** There is no value to continue with. */
  wrong(code: string, sentence: Sentence): void {
    this.valueless++;
    this.breaks(code, sentence);
  }

  /** A trial at the same place, whose problems count only after {@link take}. */
  trial(): JsonReading {
    return new JsonReading(this.root, this.#max, this.#ownNames, this);
  }

  take(other: JsonReading): void {
    this.count += other.count;
    this.valueless += other.valueless;
    this.more += other.more;
    for (const problem of other.problems) {
      if (this.#isFull) this.more++;
      else this.#list(problem);
    }
  }

  /** As {@link take}, where several shapes may have found the same problem. */
  takeDistinct(other: JsonReading): void {
    const seen = new Set<string>();
    const distinct = other.problems.filter((problem) => {
      const key = JSON.stringify([problem.at, problem.code, problem.message]);
      return !seen.has(key) && seen.add(key);
    });
    other.problems.splice(0, other.problems.length, ...distinct);
    this.take(other);
  }

  get #isFull(): boolean {
    return this.problems.length >= this.#max || this.#length >= maxReportLength;
  }

  #list(problem: Problem): void {
    this.#length += problem.at.length + problem.message.length;
    this.problems.push(problem);
  }
}

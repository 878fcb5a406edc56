import { Problem, maxListedProblems } from "../refusals.ts";
import { jsonPath } from "./messages.ts";
import type { Sort, Step } from "./messages.ts";

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

/** Names that would reach a prototype once an application copies the object; Valibot's records leave them out too. */
export function isNeverRead(name: string): boolean {
  return name === "__proto__" || name === "constructor" || name === "prototype";
}

/** Reads one value: what it answers counts only if the reading found nothing wrong on the way. */
export type ReadValue = (value: unknown, reading: JsonReading) => unknown;

/** Tells what one rule finds broken; `undefined` stands for a value that could not be read, and passes. */
export type ValueCheck = (value: unknown, reading: JsonReading) => void;

/** A shape, compiled. */
export interface Reader {
  readonly read: ReadValue;
  /** The sorts of JSON value it can take; asked only when reading, for a recursive shape to know. */
  readonly sorts: () => readonly Sort[];
  /** What it expects, as the sentence `This must be …` names it. */
  readonly expected: () => readonly string[];
}

/** Compiles a part of a shape. */
export type Compile<Part> = (part: Part) => Reader;

/** What was read of a value, and what was found wrong, by whoever tried it. */
export type Outcomes = Map<object, WeakMap<object, ReadOutcome>>;
export interface ReadOutcome {
  readonly value: unknown;
  readonly found: JsonReading;
}

// A body of 1 MiB can hold a wrong value in every second byte, each at a place as long as the body's longest name: after so
// many problems, and so many characters of places and sentences, they are counted and no longer listed.
const longestReport = 1024 * 1024;

/** One body being read: where the reader stands, and what was found wrong so far. */
export class JsonReading {
  /** Problems found, listed or not: a reader compares it with what it was to see whether its part went wrong. */
  count = 0;
  /** How many of them left no value behind, where a broken bound leaves one. */
  valueless = 0;
  depth = 0;
  readonly root: string;
  readonly path: Step[];
  readonly problems: Problem[] = [];
  /** How many problems were found and not listed. */
  more = 0;
  /** What came of values that may be read again: only a trial keeps any. */
  readonly outcomes: Outcomes | undefined;
  readonly #most: number;
  #length = 0;

  /** @param most How many problems are listed. */
  constructor(root: string, most: number = maxListedProblems, trialOf?: JsonReading) {
    this.root = root;
    this.#most = most;
    this.path = trialOf?.path ?? [];
    this.depth = trialOf?.depth ?? 0;
    this.outcomes = trialOf === undefined ? undefined : (trialOf.outcomes ?? new Map());
  }

  /** The value broke a rule and is still a value of its sort. */
  breaks(code: string, message: string): void {
    this.count++;
    if (this.#isFull) this.more++;
    else this.#list(new Problem(jsonPath(this.root, this.path, this.depth), code, message));
  }

  /** There is no value to go on with. */
  wrong(code: string, message: string): void {
    this.valueless++;
    this.breaks(code, message);
  }

  /** Reads from the same place without a word to the caller, until {@link take} brings it over. */
  aside(): JsonReading {
    return new JsonReading(this.root, this.#most, this);
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

  /** As {@link take}, where several shapes may have found the same wrong thing. */
  takeDistinct(other: JsonReading): void {
    const told = new Set<string>();
    const distinct = other.problems.filter((problem) => {
      const key = JSON.stringify([problem.at, problem.code, problem.message]);
      return !told.has(key) && told.add(key);
    });
    other.problems.splice(0, other.problems.length, ...distinct);
    this.take(other);
  }

  get #isFull(): boolean {
    return this.problems.length >= this.#most || this.#length >= longestReport;
  }

  #list(problem: Problem): void {
    this.#length += problem.at.length + problem.message.length;
    this.problems.push(problem);
  }
}

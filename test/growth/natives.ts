/**
 * What the functions of the language do, as numbers: how much text, or how many items, each call looks at or copies. A piece of
 * text counts whole although V8 copies none: taking the rest of a text again and again is what other engines copy.
 */
import { match } from "./backtracking.ts";

type Cost = (self: unknown, given: readonly unknown[], result: unknown) => number;

const lengthOf = (value: unknown): number => {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  return value instanceof Map || value instanceof Set ? value.size : 0;
};

const ofSelf: Cost = (self) => lengthOf(self);
const ofGiven: Cost = (_self, [first]) => lengthOf(first);
const ofResult: Cost = (_self, _given, result) => lengthOf(result);
const ofSelfAndResult: Cost = (self, _given, result) => lengthOf(self) + lengthOf(result);
const ofArguments: Cost = (_self, given) => given.length;
const ofOne: Cost = () => 1;
/** From where it began to where it found, or to the end. */
const untilFound: Cost = (self, given, result) => {
  const start = Math.max(0, Number(given[1] ?? 0));
  const found =
    typeof result === "number" ? result : result === true ? String(self).indexOf(String(given[0]), start) : -1;
  return Math.max(0, (found === -1 ? lengthOf(self) : found) - start) + lengthOf(given[0]);
};
/**
 * V8 15, which Deno 2.9 has, finds a text of digits that is a key among all such texts that were keys before, one by one where
 * they are alike: it hashes them by their number, and a client can send multiples of 65,536.
 */
const numbers = new Set<string>();
const ofKey: Cost = (_self, [key]) => {
  if (typeof key === "string" && /^(?:0|[1-9]\d{0,9})$/.test(key)) return lengthOf(key) + numbers.add(key).size;
  return lengthOf(key);
};
/** Digits of a `BigInt` are multiplied: some at once, and many by each other. */
const ofDigits: Cost = (_self, [text]) => lengthOf(text) * Math.ceil(lengthOf(text) / 64);

const typedArray: object = Object.getPrototypeOf(Uint8Array.prototype);

const costs: readonly (readonly [target: object, names: string, cost: Cost])[] = [
  [String.prototype, "indexOf includes", untilFound],
  [String.prototype, "lastIndexOf localeCompare isWellFormed", ofSelf],
  [String.prototype, "startsWith endsWith", ofGiven],
  [String.prototype, "slice substring substr padStart padEnd repeat concat", ofResult],
  [String.prototype, "trim trimStart trimEnd toLowerCase toUpperCase normalize toWellFormed", ofSelf],
  [String.prototype, "split replace replaceAll", ofSelfAndResult],
  [String.prototype, "match matchAll search charCodeAt codePointAt charAt at", ofOne],
  [Array.prototype, "slice concat splice flat flatMap", ofSelfAndResult],
  [Array.prototype, "join reverse fill shift unshift sort toSorted toReversed with", ofSelfAndResult],
  [Array.prototype, "indexOf lastIndexOf includes", untilFound],
  [Array.prototype, "push", ofArguments],
  [Array, "from", ofResult],
  [Object, "keys values entries", ofResult],
  [Map.prototype, "get has set delete", ofKey],
  [Set.prototype, "has add delete", ofKey],
  [typedArray, "slice fill copyWithin", ofResult],
  [typedArray, "set", ofGiven],
  [typedArray, "indexOf lastIndexOf includes", untilFound],
  [TextDecoder.prototype, "decode", ofGiven],
  [TextEncoder.prototype, "encode", ofGiven],
  [String, "fromCharCode fromCodePoint", ofArguments],
  [JSON, "parse", ofGiven],
  [JSON, "stringify", ofResult],
  [Number, "parseInt parseFloat", ofGiven],
  [globalThis, "parseInt parseFloat Number String", ofGiven],
  [globalThis, "decodeURIComponent decodeURI encodeURIComponent encodeURI atob btoa", ofGiven],
  [globalThis, "BigInt", ofDigits],
  [RegExp.prototype, "exec", ofOne],
];

/** How much was done, and how many calls threw: an exception costs as much as thousands of characters do. */
export interface Work {
  units: number;
  thrown: number;
}

/** The work that is counted now: undefined between the runs, and while the count itself calls such a function. */
let counted: Work | undefined;

/** Counts the work of the language's functions, until the function that it answers is called. */
export function countNatives(work: Work): () => void {
  replaceNatives();
  numbers.clear();
  counted = work;
  return () => {
    counted = undefined;
  };
}

let isReplaced = false;

/** Replaces each function by one that counts, for good: to replace them for every run took 4 of the 31 s of the growth table. */
function replaceNatives(): void {
  if (isReplaced) return;
  isReplaced = true;
  for (const [target, names, cost] of costs) {
    for (const name of names.split(" ")) {
      const original = Reflect.get(target, name) as (...given: readonly unknown[]) => unknown;
      const apply = (_: unknown, self: unknown, given: unknown[]): unknown => {
        const work = counted;
        if (work === undefined) return Reflect.apply(original, self, given);
        const from = self instanceof RegExp && (self.global || self.sticky) ? self.lastIndex : 0;
        let result: unknown;
        try {
          result = Reflect.apply(original, self, given);
        } catch (thrown) {
          work.thrown++;
          throw thrown;
        }
        counted = undefined;
        work.units +=
          1 + (self instanceof RegExp ? stepsOf(self, String(given[0]), from, result) : cost(self, given, result));
        counted = work;
        return result;
      };
      Object.defineProperty(target, name, {
        value: new Proxy(original, { apply }),
        writable: true,
        configurable: true,
      });
    }
  }
}

function stepsOf(pattern: RegExp, text: string, from: number, found: unknown): number {
  const { steps, end } = match(pattern, text, from);
  const [matched, index] =
    found === null ? ["", -1] : [String((found as RegExpExecArray)[0]), (found as RegExpExecArray).index];
  if (end !== index + matched.length) throw new Error(`the counting matcher reads ${pattern} otherwise than V8 does`);
  return steps;
}

import type { FieldScanner } from "./field-scanner.ts";
import { token } from "./field-scanner.ts";
import { keyOf } from "./key-of.ts";
import { isToken, printWord, readWord } from "./word.ts";

/** Parameters by name, the names in lower case, in the order they were sent. */
export type Parameters = ReadonlyMap<string, string>;

/** Parameters as they are read. Their `Map` is made where the application asks for it: see {@link keyOf}. */
export class Pairs {
  readonly #keys = new Set<string>();
  readonly #list: (readonly [name: string, value: string])[] = [];
  #map: Parameters | undefined;

  /** False for a name that is there. */
  add(name: string, value: string): boolean {
    const key = keyOf(name);
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    this.#list.push([name, value]);
    return true;
  }

  get list(): readonly (readonly [name: string, value: string])[] {
    return this.#list;
  }

  get map(): Parameters {
    return (this.#map ??= new Map(this.#list));
  }
}

const semicolon = /[ \t]*;[ \t]*/y;

/**
 * The parameters that follow (RFC 9110 §5.6.6), none or more; undefined where one is malformed or a name is there
 * twice. No blanks stand around `=`.
 *
 * @param until a sticky pattern where they end.
 */
export function readParameters(field: FieldScanner, until?: RegExp): Pairs | undefined {
  const pairs = new Pairs();
  while (!(until !== undefined && field.sees(until)) && field.match(semicolon) !== undefined) {
    const name = field.match(token)?.toLowerCase();
    // The grammar lets a parameter be empty: "text/html;".
    if (name === undefined) continue;
    if (!field.take("=")) return undefined;
    const value = readWord(field);
    if (value === undefined || !pairs.add(name, value)) return undefined;
  }
  return pairs;
}

/** Parameters, each with a `;` before it; undefined where one cannot be printed. */
export function printParameters(parameters: Parameters): string | undefined {
  const pairs = printPairs(parameters);
  return pairs?.map((pair) => `;${pair}`).join("");
}

/** Each parameter as `name=value`; undefined where one cannot be printed, or two names differ only in case. */
export function printPairs(parameters: Parameters): readonly string[] | undefined {
  const names = new Set<string>();
  const pairs: string[] = [];
  for (const [given, value] of parameters) {
    const name = given.toLowerCase();
    const word = printWord(value);
    if (!isToken(name) || names.has(name) || word === undefined) return undefined;
    names.add(name);
    pairs.push(`${name}=${word}`);
  }
  return pairs;
}

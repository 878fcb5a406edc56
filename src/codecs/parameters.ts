import type { FieldScanner } from "./field-scanner.ts";
import { token } from "./field-scanner.ts";
import { isToken, printWord, readWord } from "./word.ts";

/** Parameters by name, the names in lower case, in the order they were sent. */
export type Parameters = ReadonlyMap<string, string>;

const semicolon = /[ \t]*;[ \t]*/y;

/**
 * The parameters that follow (RFC 9110 §5.6.6), none or more; undefined where one is malformed or a name is there
 * twice. No blanks stand around `=`.
 *
 * @param until a sticky pattern where they end.
 */
export function readParameters(field: FieldScanner, until?: RegExp): Parameters | undefined {
  const parameters = new Map<string, string>();
  while (!(until !== undefined && field.sees(until)) && field.match(semicolon) !== undefined) {
    const name = field.match(token)?.toLowerCase();
    // The grammar lets a parameter be empty: "text/html;".
    if (name === undefined) continue;
    if (!field.take("=")) return undefined;
    const value = readWord(field);
    if (value === undefined || parameters.has(name)) return undefined;
    parameters.set(name, value);
  }
  return parameters;
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

/** The rule of arguments that only JavaScript gets wrong: taken, or refused by a sentence that says where. */
import { App } from "usher-http";
import type { Route } from "usher-http";

const wrong: readonly (readonly [kind: string, value: unknown])[] = [
  ["undefined", undefined],
  ["null", null],
  ["a number", 7],
  ["a string", "x"],
  ["another object", {}],
  ["a list", [7]],
  ["a promise", Promise.resolve(1)],
  ["a symbol", Symbol("x")],
  ["an object without a prototype", Object.create(null)],
  ["a list of a hole", Object.assign([], { length: 1 })],
];

/** No option of any function. */
const misspelt = "noSuchOption";

/** What names the place as well: the route, the connection string, and an answer, whose route its log line has. */
const alsoNamed = /^App\.make: |\b(?:GET|POST|PUT|PATCH|DELETE)\b|connection string|^an (?:answer|event stream) /;

/** The error of a runtime for a value that was not validated. */
const engines =
  /is not (?:a function|iterable|an object|a constructor|defined)|Cannot |\(reading |Invalid value|'in' operator|must be of type|ERR_/;

/**
 * A public function, a call of it with arguments of any kind, arguments that are right, and what right arguments may end with
 * where there is no server.
 */
export type Row = readonly [
  name: string,
  call: (...given: never[]) => unknown,
  right: readonly unknown[],
  ends?: RegExp,
];

/** Rows by what they are of: an entry of the package, or a group of the front door's functions. */
export interface Tables {
  readonly [about: string]: readonly Row[];
}

/** Which calls end without a sentence that names the function, or the route. Each argument is wrong in turn. */
export async function unexplained([name, call, right, ends]: Row): Promise<readonly string[]> {
  const made = await saidBy(call, right);
  const found = made === undefined || ends?.test(made) === true ? [] : [`right arguments: ${made}`];
  for (const [index, one] of right.entries()) {
    if (isOptions(one) && !open.has(one)) {
      const said = await saidBy(call, right.with(index, { ...one, [misspelt]: 1 }));
      if (said?.includes(misspelt) !== true)
        found.push(`argument ${index} has an unknown option: ${said ?? "taken silently"}`);
    }
    // What is right was tried above: a password of it takes 0.2 s of processor time.
    for (const [kind, value] of wrong.filter(([, value]) => value !== one)) {
      const said = await saidBy(call, right.with(index, value));
      if (said === undefined || ends?.test(said) === true) {
        if (mustRefuse(one, value)) found.push(`argument ${index} is ${kind}: taken silently`);
        continue;
      }
      const isNamed = said.includes(name) || said.startsWith(`${name.split(".")[0]}:`) || alsoNamed.test(said);
      if (!isNamed || engines.test(said)) found.push(`argument ${index} is ${kind}: ${said}`);
    }
  }
  return found;
}

/** Whether an argument has options: an object that tables write as `{}`, or mark by {@link options}. */
function isOptions(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
  return marked.has(value) || Object.keys(value).length === 0;
}

const marked = new WeakSet<object>();

/** Marks options with members, which the function needs. */
export function options<A extends object>(value: A): A {
  marked.add(value);
  return value;
}

const open = new WeakSet<object>();

/** Marks an object whose members have names of the program's own, such as inputs. */
export function names<A extends object>(value: A): A {
  open.add(value);
  return value;
}

/** Marks a block that options may leave out. */
export function optional<F extends () => unknown>(block: F): F {
  return Object.assign(block, { isOptional: true });
}

/** A block and a text cannot be anything else, and options are an object; any optional argument may be undefined. */
function mustRefuse(right: unknown, value: unknown): boolean {
  if (typeof right === "function") return value !== undefined || !("isOptional" in right);
  if (value === undefined || typeof right !== "object") return false;
  return typeof right === "string" ? typeof value !== "string" : typeof value !== "object" || value === null;
}

/** What a call throws, at once or later; undefined where it takes its arguments. */
export async function saidBy(
  call: (...given: never[]) => unknown,
  given: readonly unknown[],
): Promise<string | undefined> {
  try {
    await call(...(given as never[]));
    return undefined;
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

/** An app of one route or several, whatever they were made from. */
export function appOf(...routes: readonly unknown[]): object {
  return App.make(routes as readonly Route[]);
}

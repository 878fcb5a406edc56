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
];

/** What a runtime says of a value that nobody looked at. */
const engines =
  /is not (?:a function|iterable|an object|a constructor|defined)|Cannot |\(reading |Invalid value|'in' operator/;

/** A public function, a call of it with arguments of any kind, and arguments that are right. */
export type Row = readonly [name: string, call: (...given: never[]) => unknown, right: readonly unknown[]];

/** Which calls end without a sentence that names the function, or the route. Each argument is wrong in turn. */
export function unexplained([name, call, right]: Row): readonly string[] {
  const made = saidBy(call, right);
  const found = made === undefined ? [] : [`right arguments: ${made}`];
  for (const [index] of right.entries()) {
    for (const [kind, value] of wrong) {
      const said = saidBy(call, right.with(index, value));
      if (said === undefined) continue;
      const isNamed = said.includes(name) || /^App\.make:.*(?:GET|POST) \/a\b/s.test(said);
      if (!isNamed || engines.test(said)) found.push(`argument ${index} is ${kind}: ${said}`);
    }
  }
  return found;
}

/** What a call throws; undefined where it takes its arguments. */
function saidBy(call: (...given: never[]) => unknown, given: readonly unknown[]): string | undefined {
  try {
    call(...(given as never[]));
    return undefined;
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

/** An app of one route or several, whatever they were made from. */
export function appOf(...routes: readonly unknown[]): object {
  return App.make(routes as readonly Route[]);
}

import type { Asked } from "./asked.ts";
import type { AnyDep, BodyNeed, Check, DepNode, Inputs, Place, Read } from "./dep.ts";
import { FieldNames } from "./query-text.ts";

/** One reading of a request: what it reads, what from, and where its value goes. */
export interface Step {
  readonly slot: number;
  readonly from: readonly number[];
  readonly read: Read;
}

/** How a route's inputs are read, worked out once when the app is made. */
export interface Plan {
  readonly place: Place;
  readonly names: readonly string[];
  /** Where the value of each name is found. */
  readonly slots: readonly number[];
  /**
   * How each name is read, where all of them are texts of the head: nothing waits and nothing is made from another. Behind
   * them, what is only checked.
   */
  readonly texts: readonly ReadText[] | undefined;
  /** What needs no body, left to right; a body's content type is looked at here too. */
  readonly first: readonly Step[];
  /** What needs the body, left to right. */
  readonly second: readonly Step[];
  readonly body: BodyWanted;
  /** The values a request starts with: constants, and `unread` for the rest. */
  readonly start: readonly unknown[];
  readonly slotOf: ReadonlyMap<DepNode, number>;
}

export type ReadText = (asked: Asked) => unknown;

/** How much of a body is read before the handler runs: a stream's is the handler's own to read. */
export type BodyWanted = "nothing" | "stream" | "whole";

/** How a body need wants the body, beside what was wanted before. */
export function wanted(before: BodyWanted, need: BodyNeed): BodyWanted {
  return before === "whole" || (need.as !== "stream" && need.as !== "multipart") ? "whole" : "stream";
}

/** The value of an input before it is read. */
export const unread: unique symbol = Symbol("unread");

/** Nothing is read, and so nowhere. */
const noInputs: Plan = {
  place: {
    route: "",
    captured: () => undefined,
    query: new FieldNames(),
    form: new FieldNames(),
    resource: () => undefined,
  },
  names: [],
  slots: [],
  texts: undefined,
  first: [],
  second: [],
  body: "nothing",
  start: [],
  slotOf: new Map(),
};

/**
 * Works out how inputs are read: each once, by identity, what it is made from before it.
 *
 * @param checked What is read before them for its problems alone.
 */
export function makePlan(inputs: Inputs, place: Place, checked: readonly AnyDep[]): Plan {
  const names = Object.keys(inputs);
  if (names.length === 0 && checked.length === 0) return noInputs;
  const first: Step[] = [];
  const second: Step[] = [];
  const start: unknown[] = [];
  const slotOf = new Map<DepNode, number>();
  const needsBody = new Set<number>();
  let body: BodyWanted = "nothing";

  function visit({ node }: AnyDep): number {
    const known = slotOf.get(node);
    if (known !== undefined) return known;
    const from = node.from.map(visit);
    const slot = start.push(unread) - 1;
    if (node.uncached !== true) slotOf.set(node, slot);
    if (node.constant !== undefined) start[slot] = node.constant(place);
    if (node.body !== undefined) body = wanted(body, node.body);
    if (node.before !== undefined) first.push(checkStep(node.before(place), start));
    if (node.compile === undefined) return slot;
    const stage = node.body !== undefined || from.some((slot) => needsBody.has(slot)) ? second : first;
    if (stage === second) needsBody.add(slot);
    stage.push({ slot, from, read: node.compile(place, from) });
    return slot;
  }

  for (const dep of checked) visit(dep);
  const slots = names.map((name) => visit(inputs[name] as AnyDep));
  const texts = textsOf([...Object.values(inputs), ...checked], place);
  return { place, names, slots, texts, first, second, body, start, slotOf };
}

function textsOf(deps: readonly AnyDep[], place: Place): readonly ReadText[] | undefined {
  const texts: ReadText[] = [];
  for (const { node } of deps) {
    const where = node.need?.in;
    if (where !== "path" && where !== "query" && where !== "header") return undefined;
    const read = node.compile?.(place, []);
    if (read === undefined) return undefined;
    texts.push(read as ReadText);
  }
  return texts;
}

function checkStep(check: Check, start: unknown[]): Step {
  return { slot: start.push(unread) - 1, from: [], read: (asked) => check(asked) };
}

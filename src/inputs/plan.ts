import { isThenable } from "../async.ts";
import type { MaybePromise } from "../deferred.ts";
import { Problem, Refusal, invalid, invalidRefusal } from "../refusals.ts";
import type { AnyDep, BodyNeed, InputCheck, DepNode, Inputs, Place, ReadInput, Reading } from "./dep.ts";
import type { InputRequest } from "./request.ts";
import { FieldNames } from "./text.ts";

/** One reading of a request: what it reads, what from, and where its value goes. */
interface PlanStep {
  readonly slot: number;
  readonly from: readonly number[];
  readonly read: ReadInput;
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
  readonly first: readonly PlanStep[];
  /** What needs the body, left to right. */
  readonly second: readonly PlanStep[];
  readonly body: BodyWanted;
  /** The values a request starts with: constants, and `unread` for the rest. */
  readonly start: readonly unknown[];
  readonly slotOf: ReadonlyMap<DepNode, number>;
}

type ReadText = (asked: InputRequest) => unknown;

/** How much of a body is read before the handler runs: a stream's is the handler's own to read. */
type BodyWanted = "nothing" | "stream" | "whole";

/** How a body need wants the body, beside what was wanted before. */
function wanted(before: BodyWanted, need: BodyNeed): BodyWanted {
  return before === "whole" || (need.as !== "stream" && need.as !== "multipart") ? "whole" : "stream";
}

/** The value of an input before it is read. */
const unread: unique symbol = Symbol("unread");

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
  const first: PlanStep[] = [];
  const second: PlanStep[] = [];
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

function checkStep(check: InputCheck, start: unknown[]): PlanStep {
  return { slot: start.push(unread) - 1, from: [], read: (asked) => check(asked) };
}

/** What the handler is given, by name. */
export type InputValues = Record<string, unknown>;
type InputOutcome = Refusal | undefined;

/** What is done with a request's inputs once they are read. Neither ever throws. */
export interface Then<Request extends InputRequest, A> {
  readonly inputs: (asked: Request, inputs: InputValues | Refusal) => MaybePromise<A>;
  readonly thrown: (asked: Request, thrown: unknown) => MaybePromise<A>;
}

/** In the place of a value that could not be read: its problem is noted, and what is made from it is passed over. */
const failed = Symbol("failed");
/** In the place of a value found to need the body while the first stage runs. */
const waiting = Symbol("waiting");

/**
 * Reads a route's inputs. First, left to right, everything that needs no body; all its problems are told together.
 * Only when there are none is the body read, and what needs it. A refusal that is no problem ends the request at
 * once. What follows is called and not promised, so that where nothing waits no promise is made.
 */
export function readInputs<R extends InputRequest, A>(plan: Plan, asked: R, then: Then<R, A>): MaybePromise<A> {
  if (plan.start.length === 0) return then.inputs(asked, {});
  const texts = plan.texts === undefined ? undefined : readTexts(plan.names, plan.texts, asked);
  if (texts !== undefined) return then.inputs(asked, texts);
  const reading = new InputReading(plan, asked);
  let outcome: InputOutcome | Promise<InputOutcome>;
  try {
    outcome = run(plan.first, 0, reading);
  } catch (thrown) {
    return then.thrown(asked, thrown);
  }
  if (!(outcome instanceof Promise)) return afterFirst(reading, asked, outcome, then);
  return outcome.then(
    (refusal) => afterFirst(reading, asked, refusal, then),
    (thrown: unknown) => then.thrown(asked, thrown),
  );
}

/**
 * The inputs where each is a text that reads well; undefined where one does not, and all are read again to tell every
 * problem. A request of three texts takes 50 ns less by this way than by a reading, of 770 in all.
 */
function readTexts(names: readonly string[], texts: readonly ReadText[], asked: InputRequest): InputValues | undefined {
  const inputs: InputValues = {};
  for (let i = 0; i < texts.length; i++) {
    const read = (texts[i] as ReadText)(asked);
    if (read instanceof Problem || read instanceof Refusal) return undefined;
    if (i < names.length) inputs[names[i] as string] = read;
  }
  return inputs;
}

function afterFirst<R extends InputRequest, A>(
  reading: InputReading,
  asked: R,
  refusal: InputOutcome,
  then: Then<R, A>,
): MaybePromise<A> {
  const refused = refusal ?? reading.refusal();
  if (refused !== undefined) return then.inputs(asked, refused);
  if (reading.body === "nothing") return then.inputs(asked, reading.inputs());
  if (reading.body === "stream") return afterBody(reading, asked, undefined, then);
  try {
    return asked.readWhole((refusal) => afterBody(reading, asked, refusal, then));
  } catch (thrown) {
    // A listener may have no body to give: of one that another's middleware has read, nothing is left.
    return then.thrown(asked, thrown);
  }
}

function afterBody<R extends InputRequest, A>(
  reading: InputReading,
  asked: R,
  unread: InputOutcome,
  then: Then<R, A>,
): MaybePromise<A> {
  if (unread !== undefined) return then.inputs(asked, unread);
  let outcome: InputOutcome | Promise<InputOutcome>;
  try {
    outcome = run(reading.startSecond(), 0, reading);
  } catch (thrown) {
    return then.thrown(asked, thrown);
  }
  const finish = (refusal: InputOutcome) => then.inputs(asked, refusal ?? reading.refusal() ?? reading.inputs());
  if (!(outcome instanceof Promise)) return finish(outcome);
  return outcome.then(finish, (thrown: unknown) => then.thrown(asked, thrown));
}

function run(steps: readonly PlanStep[], from: number, reading: InputReading): InputOutcome | Promise<InputOutcome> {
  const { values, asked } = reading;
  for (let i = from; i < steps.length; i++) {
    const step = steps[i] as PlanStep;
    if (values[step.slot] !== unread || !reading.ready(step)) continue;
    const read = step.read(asked, values, reading);
    if (isThenable(read)) {
      return Promise.resolve(read).then((value) => reading.take(step, value) ?? run(steps, i + 1, reading));
    }
    const refusal = reading.take(step, read);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** What binds found only while the request runs. */
class Late {
  /** As the route's, with fields of their own: those of the route are the same for every request. */
  readonly place: Place;
  /** Values of inputs the plan does not have. */
  readonly values = new Map<DepNode, unknown>();
  readonly steps = new Map<DepNode, PlanStep>();
  readonly bound = new Map<object, AnyDep>();

  constructor(place: Place) {
    this.place = { ...place, query: new FieldNames(), form: new FieldNames() };
  }
}

class InputReading implements Reading {
  readonly plan: Plan;
  readonly asked: InputRequest;
  readonly values: unknown[];
  body: BodyWanted;
  #bodyRead = false;
  /** By what they say, so that each is told once. */
  #problems: Map<string, Problem> | undefined = undefined;
  /** How many there are beside them. */
  #more = 0;
  /** What the log is told beside them. */
  #detail: string | undefined = undefined;
  #waiting: PlanStep[] | undefined = undefined;
  #late: Late | undefined = undefined;

  constructor(plan: Plan, asked: InputRequest) {
    this.plan = plan;
    this.asked = asked;
    this.values = plan.start.slice();
    this.body = plan.body;
  }

  /** Whether all a step is made from is there; where it failed or waits, so does the step. */
  ready(step: PlanStep): boolean {
    for (const slot of step.from) {
      const value = this.values[slot];
      if (value === failed) this.values[step.slot] = failed;
      else if (value === waiting) this.#wait(step);
      else continue;
      return false;
    }
    return true;
  }

  /** Keeps what a step read; answers the refusal that ends the request. */
  take(step: PlanStep, read: unknown): InputOutcome {
    if (read === waiting) {
      this.#wait(step);
      return undefined;
    }
    const kept = this.#kept(read);
    if (kept instanceof Refusal) return kept;
    this.values[step.slot] = kept;
    return undefined;
  }

  /** The problems so far, as the one answer that tells them. */
  refusal(): InputOutcome {
    if (this.#problems === undefined) return undefined;
    return invalidRefusal([...this.#problems.values()], this.#detail, this.#more);
  }

  inputs(): InputValues {
    const { names, slots } = this.plan;
    const inputs: InputValues = {};
    for (let i = 0; i < names.length; i++) inputs[names[i] as string] = this.values[slots[i] as number];
    return inputs;
  }

  /** The steps of the second stage: those that turned out to wait for the body, then the plan's. */
  startSecond(): readonly PlanStep[] {
    this.#bodyRead = true;
    const late = this.#waiting;
    if (late === undefined) return this.plan.second;
    for (const { slot } of late) this.values[slot] = unread;
    return [...late, ...this.plan.second];
  }

  async late(asker: object, next: () => AnyDep): Promise<unknown> {
    const late = (this.#late ??= new Late(this.plan.place));
    const dep = late.bound.get(asker) ?? next();
    late.bound.set(asker, dep);
    return this.#pull(dep, late);
  }

  /** Reads an input on demand: what the plan has is read there, once; anything else by identity here. */
  async #pull({ node }: AnyDep, late: Late): Promise<unknown> {
    const slot = this.plan.slotOf.get(node);
    if (slot !== undefined && this.values[slot] !== unread) return this.values[slot];
    if (late.values.has(node)) return late.values.get(node);
    const value = await this.#readLate(node, late);
    if (value !== waiting) {
      if (slot !== undefined) this.values[slot] = value;
      else if (node.uncached !== true) late.values.set(node, value);
    }
    return value;
  }

  async #readLate(node: DepNode, late: Late): Promise<unknown> {
    const { place } = late;
    if (node.constant !== undefined) return node.constant(place);
    if (node.codes !== undefined) this.asked.declare(node.codes);
    const { from, read } = this.#lateStep(node, late);
    for (const [i, slot] of from.entries()) this.values[slot] = await this.#pull(node.from[i] as AnyDep, late);
    if (from.some((slot) => this.values[slot] === failed)) return failed;
    if (node.body !== undefined && !this.#bodyRead) {
      this.body = wanted(this.body, node.body);
      return this.#settled(await node.before?.(place)(this.asked)) === failed ? failed : waiting;
    }
    if (from.some((slot) => this.values[slot] === waiting)) return waiting;
    return this.#settled(await read(this.asked, this.values, this));
  }

  #lateStep(node: DepNode, late: Late): PlanStep {
    let step = late.steps.get(node);
    if (step === undefined) {
      const from = node.from.map(() => this.values.push(unread) - 1);
      step = { slot: -1, from, read: node.compile?.(late.place, from) ?? (() => undefined) };
      late.steps.set(node, step);
    }
    return step;
  }

  /** As `#kept`, where a refusal has no step to be answered by: thrown, it ends the request like one returned. */
  #settled(read: unknown): unknown {
    const kept = this.#kept(read);
    if (kept instanceof Refusal) throw kept;
    return kept;
  }

  /** A value as it is kept: problems are noted, once each, and leave `failed`; any other refusal is answered. */
  #kept(read: unknown): unknown {
    if (typeof read !== "object" || read === null) return read;
    if (read instanceof Problem) return this.#note([read]);
    if (read instanceof Refusal && read.code.name === invalid.name && read.problems.length > 0) {
      this.#detail ??= read.detail;
      this.#more += read.more;
      return this.#note(read.problems);
    }
    return read;
  }

  #note(problems: readonly Problem[]): typeof failed {
    this.#problems ??= new Map();
    for (const problem of problems) {
      const said = `${problem.at}\n${problem.code}\n${problem.message}`;
      if (this.#problems.has(said)) continue;
      if (this.#problems.size < this.asked.maxProblems) this.#problems.set(said, problem);
      else this.#more++;
    }
    return failed;
  }

  #wait(step: PlanStep): void {
    (this.#waiting ??= []).push(step);
    this.values[step.slot] = waiting;
  }
}

import { invalid, sentences } from "../refusals/framework-codes.ts";
import { Problem, sameProblem } from "../refusals/problem.ts";
import { Refusal } from "../refusals/refusal.ts";
import type { Asked } from "./asked.ts";
import type { AnyDep, DepNode, Reading } from "./dep.ts";
import { unread } from "./plan.ts";
import type { Plan, Step } from "./plan.ts";

/** What the handler is given, by name. */
export type InputValues = Record<string, unknown>;
type Outcome = Refusal | undefined;

/** In the place of a value that could not be read: its problem is noted, and what is made from it is passed over. */
const failed = Symbol("failed");
/** In the place of a value found to need the body while the first stage runs. */
const waiting = Symbol("waiting");

/**
 * Reads a route's inputs. First, left to right, everything that needs no body; all its problems are told together.
 * Only when there are none is the body read, and what needs it. A refusal that is no problem ends the request at
 * once. Answers at once where nothing waits.
 */
export function readInputs(plan: Plan, asked: Asked): InputValues | Refusal | Promise<InputValues | Refusal> {
  if (plan.slots.length === 0) return {};
  const reading = new InputReading(plan, asked);
  const stage = run(plan.first, 0, reading);
  return stage instanceof Promise ? stage.then((refusal) => afterFirst(reading, refusal)) : afterFirst(reading, stage);
}

function afterFirst(reading: InputReading, refusal: Outcome): InputValues | Refusal | Promise<InputValues | Refusal> {
  const refused = refusal ?? reading.refusal();
  if (refused !== undefined) return refused;
  if (!reading.needsBody) return reading.inputs();
  const read = reading.asked.readWhole();
  return read instanceof Promise ? read.then((refusal) => afterBody(reading, refusal)) : afterBody(reading, read);
}

function afterBody(reading: InputReading, refusal: Outcome): InputValues | Refusal | Promise<InputValues | Refusal> {
  if (refusal !== undefined) return refusal;
  const stage = run(reading.startSecond(), 0, reading);
  return stage instanceof Promise ? stage.then((refusal) => afterSecond(reading, refusal)) : afterSecond(reading, stage);
}

function afterSecond(reading: InputReading, refusal: Outcome): InputValues | Refusal {
  return refusal ?? reading.refusal() ?? reading.inputs();
}

function run(steps: readonly Step[], from: number, reading: InputReading): Outcome | Promise<Outcome> {
  const { values, asked } = reading;
  for (let i = from; i < steps.length; i++) {
    const step = steps[i] as Step;
    if (values[step.slot] !== unread || !reading.ready(step)) continue;
    const read = step.read(asked, values, reading);
    if (read instanceof Promise) {
      return read.then((value) => reading.take(step, value) ?? run(steps, i + 1, reading));
    }
    const refusal = reading.take(step, read);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

class InputReading implements Reading {
  readonly plan: Plan;
  readonly asked: Asked;
  readonly values: unknown[];
  needsBody: boolean;
  #problems: Problem[] | undefined;
  #waiting: Step[] | undefined;
  /** What a bind asked for that the plan does not have. */
  #late: Map<DepNode, unknown> | undefined;
  #lateSteps: Map<DepNode, Step> | undefined;
  #bound: Map<object, AnyDep> | undefined;
  #bodyRead = false;

  constructor(plan: Plan, asked: Asked) {
    this.plan = plan;
    this.asked = asked;
    this.values = plan.start.slice();
    this.needsBody = plan.body?.as === "json" || plan.body?.as === "bytes";
  }

  /** Whether all a step is made from is there; where it failed or waits, so does the step. */
  ready(step: Step): boolean {
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
  take(step: Step, read: unknown): Outcome {
    if (read === waiting) {
      this.#wait(step);
      return undefined;
    }
    const kept = this.#kept(read);
    if (kept instanceof Refusal) return kept;
    this.values[step.slot] = kept;
    return undefined;
  }

  /** Every problem so far, as the one answer that tells them. */
  refusal(): Outcome {
    if (this.#problems === undefined) return undefined;
    return new Refusal(invalid, sentences.get("invalid") as string, { problems: this.#problems });
  }

  inputs(): InputValues {
    const { names, slots } = this.plan;
    const inputs: InputValues = {};
    for (let i = 0; i < names.length; i++) inputs[names[i] as string] = this.values[slots[i] as number];
    return inputs;
  }

  /** The steps of the second stage: those that turned out to wait for the body, then the plan's. */
  startSecond(): readonly Step[] {
    this.#bodyRead = true;
    const late = this.#waiting;
    if (late === undefined) return this.plan.second;
    for (const { slot } of late) this.values[slot] = unread;
    return [...late, ...this.plan.second];
  }

  async late(asker: object, next: () => AnyDep): Promise<unknown> {
    this.#bound ??= new Map();
    const dep = this.#bound.get(asker) ?? next();
    this.#bound.set(asker, dep);
    return this.#pull(dep);
  }

  /** Reads an input on demand: what the plan has is read there, once; anything else by identity here. */
  async #pull({ node }: AnyDep): Promise<unknown> {
    const slot = this.plan.slotOf.get(node);
    if (slot !== undefined && this.values[slot] !== unread) return this.values[slot];
    if (this.#late?.has(node) === true) return this.#late.get(node);
    const value = await this.#readLate(node);
    if (value !== waiting) {
      if (slot !== undefined) this.values[slot] = value;
      else if (node.uncached !== true) (this.#late ??= new Map()).set(node, value);
    }
    return value;
  }

  async #readLate(node: DepNode): Promise<unknown> {
    const { place } = this.plan;
    if (node.constant !== undefined) return node.constant(place);
    const { from, read } = this.#lateStep(node);
    for (const [i, slot] of from.entries()) this.values[slot] = await this.#pull(node.from[i] as AnyDep);
    if (from.some((slot) => this.values[slot] === failed)) return failed;
    if (node.body !== undefined && !this.#bodyRead) {
      this.needsBody = true;
      return this.#settled(await node.before?.(place)(this.asked)) === failed ? failed : waiting;
    }
    if (from.some((slot) => this.values[slot] === waiting)) return waiting;
    return this.#settled(await read(this.asked, this.values, this));
  }

  #lateStep(node: DepNode): Step {
    this.#lateSteps ??= new Map();
    let step = this.#lateSteps.get(node);
    if (step === undefined) {
      const from = node.from.map(() => this.values.push(unread) - 1);
      step = { slot: -1, from, read: node.compile?.(this.plan.place, from) ?? (() => undefined) };
      this.#lateSteps.set(node, step);
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
      return this.#note(read.problems);
    }
    return read;
  }

  #note(problems: readonly Problem[]): typeof failed {
    this.#problems ??= [];
    for (const problem of problems) {
      if (!this.#problems.some((noted) => sameProblem(noted, problem))) this.#problems.push(problem);
    }
    return failed;
  }

  #wait(step: Step): void {
    (this.#waiting ??= []).push(step);
    this.values[step.slot] = waiting;
  }
}

import { noted } from "./copies.ts";
import { needsFunction } from "../arguments.ts";
import { Refusal } from "../refusals.ts";
import { bodyReadTwice } from "./body-source.ts";
import type { AnyDep, Dep, DepNode, ReadInput, Reading, RouteContext } from "./dep.ts";
import { bodyWanted, failed, unread, waiting } from "./plan.ts";
import type { InputReading, PlanStep } from "./plan.ts";
import { FieldNames } from "./text.ts";

/**
 * Chooses an input by the value of another one. The choice is not known in advance, so it is opaque to the API document. A
 * path parameter that it reads is checked only during a request.
 */
export function bind<A, B, R extends string, Q extends string, W, X>(
  dep: Dep<A, R, W>,
  next: (value: A) => Dep<B, Q, X>,
): Dep<B, R | Q, W> {
  needsFunction("Dep.bind: its block", next);
  const compile = (_route: RouteContext, [slot = 0]: readonly number[]): ReadInput => {
    const chooser = {};
    return (_request, values, reading) => readChosen(reading, chooser, () => next(values[slot] as A));
  };
  return noted({ node: { from: [dep], opaque: true, binds: true, compile } });
}

/** Reads the input that `choose` returns, at most once like any other; `choose` is called once for each `chooser`. */
export function readChosen(reading: Reading, chooser: object, choose: () => AnyDep): Promise<unknown> {
  // The plan hands itself over, and nothing else is a reading.
  const given = reading as InputReading;
  given.chosen ??= new ChosenInputs(given);
  return (given.chosen as ChosenInputs).read(chooser, choose);
}

/** The inputs that one request chose while it was read. */
class ChosenInputs {
  readonly #reading: InputReading;
  /** The route's context with fields of its own: the route's fields are the same for every request. */
  readonly #context: RouteContext;
  /** The values of those that are not in the plan. */
  readonly #values = new Map<DepNode, unknown>();
  /** Refusals of inputs. Most end the request, but a list of tools leaves out those that are refused. */
  readonly #refused = new Map<DepNode, Refusal>();
  readonly #steps = new Map<DepNode, PlanStep>();
  readonly #byChooser = new Map<object, AnyDep>();

  constructor(reading: InputReading) {
    this.#reading = reading;
    this.#context = { ...reading.plan.context, query: new FieldNames(), form: new FieldNames() };
  }

  async read(chooser: object, choose: () => AnyDep): Promise<unknown> {
    const dep = this.#byChooser.get(chooser) ?? choose();
    this.#byChooser.set(chooser, dep);
    this.#compile(dep);
    return this.#readOnce(dep);
  }

  /** All fields that it reads are known before the first is read: the text of a form is then read once for them. */
  #compile({ node }: AnyDep): void {
    if (this.#planned(node) !== unread || this.#steps.has(node)) return;
    if (node.constant === undefined) this.#step(node);
    for (const dep of node.from) this.#compile(dep);
  }

  /** The value that the plan has read, if the plan has the input. */
  #planned(node: DepNode): unknown {
    const { plan, values } = this.#reading;
    const slot = plan.slotOf.get(node);
    return slot === undefined ? unread : values[slot];
  }

  /** Reads an input on demand, once: in the plan's slot if the plan has it, otherwise by identity here. */
  async #readOnce({ node }: AnyDep): Promise<unknown> {
    const planned = this.#planned(node);
    if (planned !== unread) return planned;
    if (this.#values.has(node)) return this.#values.get(node);
    const refused = this.#refused.get(node);
    if (refused !== undefined) throw refused;
    const value = await this.#readNode(node).catch((thrown: unknown) => {
      if (thrown instanceof Refusal && node.uncached !== true) this.#refused.set(node, thrown);
      throw thrown;
    });
    if (value !== waiting) {
      const slot = this.#reading.plan.slotOf.get(node);
      if (slot !== undefined) this.#reading.values[slot] = value;
      else if (node.uncached !== true) this.#values.set(node, value);
    }
    return value;
  }

  async #readNode(node: DepNode): Promise<unknown> {
    const reading = this.#reading;
    const { values, request } = reading;
    if (node.constant !== undefined) return node.constant(this.#context);
    if (node.codes !== undefined) request.declare(node.codes);
    const { from, read } = this.#step(node);
    for (const [i, slot] of from.entries()) {
      // While it waited for the body, what it uses was read already.
      if (values[slot] !== unread && values[slot] !== waiting) continue;
      values[slot] = await this.#readOnce(node.from[i] as AnyDep);
    }
    if (from.some((slot) => values[slot] === failed)) return failed;
    // A later bind may still choose a body.
    if (node.acquires === true && (reading.isHead || (reading.body !== undefined && !reading.isBodyRead)))
      return waiting;
    if (node.body !== undefined && !reading.isBodyRead) {
      reading.body = bodyWanted(reading.body, node.body);
      return reading.settled(await node.before?.(this.#context)(request)) === failed ? failed : waiting;
    }
    if (from.some((slot) => values[slot] === waiting)) return waiting;
    // Nothing of the body was read whole: to the input it would be empty.
    if (node.body !== undefined && reading.body?.isWhole !== bodyWanted(reading.body, node.body).isWhole)
      throw bodyReadTwice(this.#context.route);
    // The next use of an uncached one reads all of it again.
    if (node.uncached === true) this.#steps.delete(node);
    return reading.settled(await read(request, values, reading));
  }

  #step(node: DepNode): PlanStep {
    let step = this.#steps.get(node);
    if (step === undefined) {
      const { values } = this.#reading;
      const from = node.from.map(() => values.push(unread) - 1);
      step = { slot: -1, from, read: node.compile?.(this.#context, from) ?? (() => undefined) };
      this.#steps.set(node, step);
    }
    return step;
  }
}

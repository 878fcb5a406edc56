/** An engine that runs elsewhere, to which each process has a wire of its own. */
import { setTimeout as later } from "node:timers/promises";
import type { OpenRelay } from "usher-http/postgres";
import { Wire } from "../wire.ts";
import type { World } from "./hub-model.ts";

const stepMs = 10;
// As long as a test has: what comes late comes.
const mostSteps = 4000;

export class WiredWorld implements World {
  /** A relay waits up to two seconds before it connects again. */
  readonly patience = 400;
  readonly #port: number;
  readonly #openAt: (port: number) => Promise<OpenRelay>;
  readonly #countSubscribed: () => Promise<number>;
  readonly #wires: Wire[] = [];
  readonly #cut = new Set<number>();
  readonly #stalled = new Set<number>();

  /** @param countSubscribed How many relays the engine knows. */
  constructor(port: number, openAt: (port: number) => Promise<OpenRelay>, countSubscribed: () => Promise<number>) {
    this.#port = port;
    this.#openAt = openAt;
    this.#countSubscribed = countSubscribed;
  }

  async open(member: number): Promise<OpenRelay> {
    const wire = await Wire.to(this.#port);
    this.#wires[member] = wire;
    return this.#openAt(wire.port);
  }

  cut(member: number): void {
    this.#cut.add(member);
    this.#wires[member]?.cut();
  }

  mend(member: number): void {
    this.#cut.delete(member);
    this.#goOn(member);
    this.#wires[member]?.mend();
  }

  stall(member: number): void {
    this.#stalled.add(member);
    this.#wires[member]?.holdAnswers();
  }

  /** What was kept back is lost: the connection is another from then on. */
  #goOn(member: number): void {
    if (!this.#stalled.delete(member)) return;
    this.#wires[member]?.cut();
    if (!this.#cut.has(member)) this.#wires[member]?.mend();
  }

  async pass(): Promise<void> {
    for (const member of this.#stalled) this.#goOn(member);
    await later(stepMs);
  }

  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (let step = 0; !(await isSo()); step++) {
      if (step === mostSteps) throw new Error(`it never was: ${what}`);
      await later(stepMs);
    }
  }

  async isEmpty(): Promise<boolean> {
    await this.until("nobody is subscribed", async () => (await this.#countSubscribed()) === 0);
    for (const wire of this.#wires) wire.end();
    return true;
  }
}

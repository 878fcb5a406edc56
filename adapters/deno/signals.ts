import type { DenoRuntime, Signal } from "./runtime.ts";

declare const Deno: DenoRuntime;

/** Has a stop signal do something, once: the next one does what it does to any process. */
export class StopSignals {
  // Windows has no other that Deno could hear.
  readonly #signals: readonly Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGTERM", "SIGINT"];
  readonly #act: () => void;
  #heard = false;

  constructor(act: () => void) {
    this.#act = act;
  }

  hear(): void {
    this.#heard = true;
    for (const signal of this.#signals) Deno.addSignalListener(signal, this.#on);
  }

  forget(): void {
    if (!this.#heard) return;
    this.#heard = false;
    for (const signal of this.#signals) Deno.removeSignalListener(signal, this.#on);
  }

  readonly #on = (): void => {
    this.forget();
    this.#act();
  };
}

import { inBackground } from "../../src/logging/background.ts";
import { isStream } from "../../src/answers/answer.ts";
import { readParts } from "../../src/answers/parts.ts";
import type { Sent } from "../../src/app/exchange.ts";
import { unmade } from "../../src/app/fetch.ts";
import type { DenoExchange } from "./exchange.ts";
import type { Cuttable } from "./in-flight.ts";
import { respond } from "./respond.ts";
import type { Responding } from "./respond.ts";

/** An answer that is still being made. */
export class Pending implements Cuttable {
  readonly response: Promise<Response>;
  readonly #exchange: DenoExchange;
  #resolve: (response: Response) => void = () => {};
  #isCut = false;

  constructor(exchange: DenoExchange) {
    this.#exchange = exchange;
    this.response = new Promise((resolve) => (this.#resolve = resolve));
  }

  /** The client is still sending what it is waiting for. */
  get isReading(): boolean {
    return this.#exchange.begun?.isReading === true;
  }

  answer(sent: Sent, responding: Responding): void {
    if (!this.#isCut) this.#resolve(this.#made(sent, responding));
    // Nobody will read it.
    else if (isStream(sent.body)) inBackground(readParts(sent.body).cancel());
  }

  /** There will be no answer: that is a bug of ours. */
  fail(thrown: unknown): void {
    this.#resolve(unmade(thrown));
  }

  #made(sent: Sent, responding: Responding): Response {
    try {
      return respond(this.#exchange, sent, responding);
    } catch (thrown) {
      return unmade(thrown);
    }
  }

  /** Answers for the application that this will not be answered: Deno lets nobody close a connection. */
  cut(): void {
    this.#isCut = true;
    this.#exchange.left();
    this.#exchange.begun?.release();
    this.#resolve(new Response(null, { status: 503, headers: { connection: "close" } }));
  }
}

import { Deferred } from "../deferred.ts";
import { answeredBefore, bodyRefusal, isFailure } from "../inputs/body-source.ts";
import type { BodyFailure, BodyReceiver } from "../inputs/body-source.ts";
import { within } from "../logging/context.ts";
import type { Carrying } from "../logging/context.ts";
import { internalRefusal } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";
import type { CompiledRoute } from "./compile.ts";

/** A request whose body is read whole. */
interface BodyRequest extends Carrying {
  bytes: Uint8Array;
  /** Whether it was answered, as by middleware that does not wait for its route. */
  readonly isAnswered: boolean;
  take(bytes: number): boolean;
}

/** Receives a request's body, and resolves with why it could not be read. */
export class WholeBody extends Deferred<Refusal | undefined> implements BodyReceiver {
  readonly #request: BodyRequest;

  constructor(request: BodyRequest) {
    super();
    this.#request = request;
  }

  take(bytes: number): boolean {
    return this.#request.take(bytes);
  }

  done(read: Uint8Array | BodyFailure): void {
    let refusal: Refusal | undefined;
    // First: what arrives then finds no room, however much of the budget is left.
    if (this.#request.isAnswered) refusal = bodyRefusal(answeredBefore);
    else if (isFailure(read)) refusal = bodyRefusal(read);
    else this.#request.bytes = read;
    // A listener calls this where the bytes arrived, outside of this request's context.
    within(this.#request, () => this.resolve(refusal));
  }
}

/** The 500 of an idempotency key whose body is read as it arrives. Only inputs that `Dep.bind` found can cause it. */
export function notWhole(route: CompiledRoute | undefined): Refusal {
  const why = "has an idempotency key, which is for the whole body, and reads its body as it arrives";
  return internalRefusal(`${route?.route.pattern} ${why}`);
}

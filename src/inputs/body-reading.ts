import { Deferred } from "../deferred.ts";
import type { MaybePromise } from "../deferred.ts";
import { within } from "../logging/context.ts";
import { internalRefusal } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";
import { BodyBudget } from "./body-budget.ts";
import type { BodyHolding } from "./body-budget.ts";
import { answeredBefore, bodyReadTwice, bodyRefusal, bodyTooLarge, isFailure, noRoom } from "./body-source.ts";
import type { BodyFailure, BodyHolder, BodyReceiver, BodySource } from "./body-source.ts";
import { encodingRefusal, encodingsOf } from "./encoded-body.ts";
import type { DecodedSource } from "./encoded-body.ts";
import type { BodyForm, BodyMachine } from "./dep.ts";
import type { BodyInUse, BodyRequest, InputsOfBody, OpenBody } from "./request.ts";

const noBytes: Uint8Array = /* @__PURE__ */ new Uint8Array();

/** Who reads a body. */
type BodyUser =
  | { readonly at: "unread" }
  | { readonly at: "whole" }
  /** The handler, as it arrives, until it has answered or until its response was sent. */
  | { readonly at: "parts"; readonly body: OpenBody; readonly until: "handled" | "replied" }
  | { readonly at: "closed" };

const unread: BodyUser = { at: "unread" };
const readWhole: BodyUser = { at: "whole" };
const closed: BodyUser = { at: "closed" };

/** How an input reads the body, with what reads it: so a route brings that by such an input alone. */
/* @__NO_SIDE_EFFECTS__ */
export function bodyNeed<Form extends BodyForm>(form: Form): Form & BodyMachine {
  return { ...form, Reading: BodyReading, several: severalBodies };
}

function severalBodies(bodies: readonly BodyForm["as"][]): string {
  if (bodies.every((as) => as === "json")) {
    const instead = "make one json of the whole shape, and take its parts by Dep.map";
    return `reads its body by ${bodies.length} json inputs, where a body is read one way: ${instead}`;
  }
  const [first] = bodies;
  if (first !== undefined && bodies.every((as) => as === first)) {
    const by = first === "bytes" ? "inputs by body and Dep.ofBody" : `inputs as ${first}`;
    return `reads its body by ${bodies.length} ${by}, where a body is read one way: make one input, and take its parts by Dep.map`;
  }
  return `reads its body as ${bodies.join(" and as ")}, where a body is read one way`;
}

class BodyReading implements BodyInUse, BodyHolder, BodyHolding {
  bytes: Uint8Array = noBytes;
  isOverBudget = false;
  heldBytes = 0;
  holderIndex = 0;
  readonly #request: BodyRequest;
  readonly #budget: BodyBudget;
  #reader: BodyUser = unread;
  /** The body without its coding, where it has one. */
  #decoded: DecodedSource | undefined = undefined;
  #hasReadLate = false;

  constructor(request: BodyRequest) {
    const { app } = request;
    this.#request = request;
    this.#budget = app.budget ??= new BodyBudget(app.bodyBudget, app.bodyShare);
  }

  get network(): string | undefined {
    return this.#request.network;
  }

  get source(): BodySource | undefined {
    return this.#decoded ?? this.#request.exchange.body;
  }

  openEncoding(): Refusal | undefined {
    const { exchange, route, app } = this.#request;
    const { body } = exchange;
    if (body === undefined) return undefined;
    const lines = exchange.lines("content-encoding");
    // A standard `Request` may have a stream for a body that is declared as empty.
    if (lines.length === 0 || route?.readsEncoding === true || body.length === 0) return undefined;
    const encodings = encodingsOf(lines);
    if (encodings.length === 0) return undefined;
    const { decompress } = app;
    this.#decoded = decompress?.decoded(body, encodings, this.#request);
    return this.#decoded === undefined ? encodingRefusal(decompress?.encodings.join(", ")) : undefined;
  }

  readWhole(): MaybePromise<Refusal | undefined> {
    const { exchange, app, ending } = this.#request;
    const source = this.#decoded ?? exchange.body;
    this.#reader = readWhole;
    if (source === undefined || ending.at.isFrozen) return source && bodyRefusal(answeredBefore);
    const { maxBody } = app;
    if (source.length !== undefined && source.length > maxBody) return bodyRefusal(bodyTooLarge);
    this.isOverBudget = source.length !== undefined && !exchange.isInner && !this.#budget.hasRoom(this, source.length);
    if (this.isOverBudget) return bodyRefusal(noRoom);
    const whole = new WholeBody(this.#request, this);
    source.whole(maxBody, whole);
    return whole;
  }

  open<R extends OpenBody>(
    make: (source: BodySource | undefined, holder: BodyHolder) => R,
    until: "handled" | "replied",
  ): R {
    const { route, ending } = this.#request;
    if (this.#reader !== unread) throw bodyReadTwice(route?.route.pattern);
    if (ending.guard !== undefined) throw notWhole(route);
    const body = make(this.source, this);
    this.#reader = { at: "parts", body, until };
    if (ending.at.isFrozen) this.close();
    return body;
  }

  get isOpen(): boolean {
    return this.#reader.at === "parts";
  }

  guarded(): void {
    if (this.isOpen) throw notWhole(this.#request.route);
  }

  get continuesReading(): boolean {
    return this.#reader.at === "parts" && this.#reader.body.isBegun === true;
  }

  take(bytes: number): boolean {
    const { ending } = this.#request;
    // What arrives after the answer would be held for ever.
    if (this.#reader.at !== "parts" && ending.at.isFrozen) return false;
    this.isOverBudget = !this.#budget.take(this, bytes);
    return !this.isOverBudget;
  }

  give(bytes: number): void {
    this.#budget.give(this, bytes);
  }

  waits(): void {
    this.#request.lendPlace();
  }

  continues(): Promise<void> | undefined {
    return this.#request.awaitPlace();
  }

  freeze(isCut: boolean): void {
    const reader = this.#reader;
    if (reader.at === "parts" && reader.until === "replied" && !isCut) return;
    const isWaited = this.close();
    if (isWaited && !isCut) this.readTooLate();
  }

  close(): boolean {
    const reader = this.#reader;
    if (reader.at === "parts") this.#reader = closed;
    const isWaited = reader.at === "parts" && reader.body.close();
    this.#decoded?.close();
    if (this.heldBytes > 0) this.give(this.heldBytes);
    return isWaited;
  }

  readTooLate(): void {
    // A loop over failing reads would write lines without end.
    if (this.#hasReadLate) return;
    this.#hasReadLate = true;
    const { route } = this.#request;
    const name = route === undefined ? undefined : bodyInputOf(route.route.inputs);
    const what = name === undefined ? "its body" : `its body, the input ${name},`;
    this.#request.warn(
      `read ${what} after its answer had gone, which failed: await each read before the handler returns`,
    );
  }
}

/** Receives a request's body, and resolves with why it could not be read. */
class WholeBody extends Deferred<Refusal | undefined> implements BodyReceiver {
  readonly #request: BodyRequest;
  readonly #reading: BodyReading;

  constructor(request: BodyRequest, reading: BodyReading) {
    super();
    this.#request = request;
    this.#reading = reading;
  }

  take(bytes: number): boolean {
    return this.#reading.take(bytes);
  }

  done(read: Uint8Array | BodyFailure): void {
    let refusal: Refusal | undefined;
    // First: what arrives then finds no room, however much of the budget is left.
    if (this.#request.ending.at.isFrozen) refusal = bodyRefusal(answeredBefore);
    else if (isFailure(read)) refusal = bodyRefusal(read);
    else this.#reading.bytes = read;
    // A listener calls this where the bytes arrived, outside of this request's context.
    within(this.#request, () => this.resolve(refusal));
  }
}

/** The 500 of an idempotency key whose body is read as it arrives. Only inputs that `Dep.bind` found can cause it. */
function notWhole(route: BodyRequest["route"]): Refusal {
  const why = "has an idempotency key, which is for the whole body, and reads its body as it arrives";
  return internalRefusal(`${route?.route.pattern} ${why}`);
}

/** The name of the input that reads the body, itself or by what it is made from. */
function bodyInputOf(inputs: InputsOfBody): string | undefined {
  const reads = ({ node }: InputsOfBody[string]): boolean => node.body !== undefined || node.from.some(reads);
  return Object.entries(inputs).find(([, dep]) => reads(dep))?.[0];
}

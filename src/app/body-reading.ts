import { Deferred } from "../deferred.ts";
import type { MaybePromise } from "../deferred.ts";
import { answeredBefore, bodyReadTwice, bodyRefusal, bodyTooLarge, isFailure, noRoom } from "../inputs/body-source.ts";
import type { BodyFailure, BodyHolder, BodyReceiver, BodySource } from "../inputs/body-source.ts";
import type { AnyDep, Inputs } from "../inputs/dep.ts";
import { encodingRefusal, encodingsOf } from "../inputs/encoded-body.ts";
import type { DecodedSource } from "../inputs/encoded-body.ts";
import { within } from "../logging/context.ts";
import type { Carrying } from "../logging/context.ts";
import type { OpenBody } from "../inputs/request.ts";
import { internalRefusal } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";
import type { BodyHolding } from "./body-budget.ts";
import type { PlacedRequest } from "./bounds.ts";
import type { CompiledApp, CompiledRoute } from "./compile.ts";
import type { Point } from "./ending.ts";
import type { Exchange } from "./exchange.ts";

export const noBytes: Uint8Array = new Uint8Array();

/** A request whose body is read. */
interface BodyRequest extends Carrying, PlacedRequest {
  readonly app: CompiledApp;
  readonly exchange: Exchange;
  readonly route: CompiledRoute | undefined;
  readonly ending: { readonly at: Point; readonly guard: unknown };
  readonly network: string | undefined;
  readonly maxBody: number;
  warn(did: string): void;
}

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

/** What is read of a request's body, and held of it. Made for a route that reads a body. */
export class BodyReading implements BodyHolder, BodyHolding {
  /** The whole body, once it is read. */
  bytes: Uint8Array = noBytes;
  /** Whether it did not fit into the budget: the rest is not read, and the connection ends. */
  isOverBudget = false;
  heldBytes = 0;
  holderIndex = 0;
  readonly #request: BodyRequest;
  #reader: BodyUser = unread;
  /** The body without its coding, where it has one. */
  #decoded: DecodedSource | undefined = undefined;
  #hasReadLate = false;

  constructor(request: BodyRequest) {
    this.#request = request;
  }

  get network(): string | undefined {
    return this.#request.network;
  }

  get source(): BodySource | undefined {
    return this.#decoded ?? this.#request.exchange.body;
  }

  /** Looks at the coding of a body that will be read; a refusal if it is not one that the app reads. */
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

  /** Reads the whole body into `bytes`; resolves with a refusal if it could not be read. */
  readWhole(): MaybePromise<Refusal | undefined> {
    const { exchange, app, ending } = this.#request;
    const source = this.#decoded ?? exchange.body;
    this.#reader = readWhole;
    if (source === undefined || ending.at.isFrozen) return source && bodyRefusal(answeredBefore);
    const { maxBody, budget } = app;
    if (source.length !== undefined && source.length > maxBody) return bodyRefusal(bodyTooLarge);
    this.isOverBudget = source.length !== undefined && !exchange.isInner && !budget.hasRoom(this, source.length);
    if (this.isOverBudget) return bodyRefusal(noRoom);
    const whole = new WholeBody(this.#request, this);
    source.whole(maxBody, whole);
    return whole;
  }

  /** The handler reads it as it arrives. */
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

  /** Whether the handler reads it as it arrives. */
  get isOpen(): boolean {
    return this.#reader.at === "parts";
  }

  /** Whether it is still being read while its response is sent. */
  get continuesReading(): boolean {
    return this.#reader.at === "parts" && this.#reader.body.isBegun === true;
  }

  take(bytes: number): boolean {
    const { ending, app } = this.#request;
    // What arrives after the answer would be held for ever.
    if (this.#reader.at !== "parts" && ending.at.isFrozen) return false;
    this.isOverBudget = !app.budget.take(this, bytes);
    return !this.isOverBudget;
  }

  give(bytes: number): void {
    this.#request.app.budget.give(this, bytes);
  }

  waits(): void {
    this.#request.app.overload?.lendPlace(this.#request);
  }

  continues(): Promise<void> | undefined {
    return this.#request.app.overload?.awaitPlace(this.#request);
  }

  /** The request is answered: nothing more is read, and nothing held, unless its response is made of it. */
  freeze(isCut: boolean): void {
    const reader = this.#reader;
    if (reader.at === "parts" && reader.until === "replied" && !isCut) return;
    const isWaited = this.close();
    if (isWaited && !isCut) this.readTooLate();
  }

  /** Nothing more is read, and nothing held. Returns whether a read waits. */
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
export function notWhole(route: CompiledRoute | undefined): Refusal {
  const why = "has an idempotency key, which is for the whole body, and reads its body as it arrives";
  return internalRefusal(`${route?.route.pattern} ${why}`);
}

/** The name of the input that reads the body, itself or by what it is made from. */
function bodyInputOf(inputs: Inputs): string | undefined {
  const reads = ({ node }: AnyDep): boolean => node.body !== undefined || node.from.some(reads);
  return Object.entries(inputs).find(([, dep]) => reads(dep))?.[0];
}

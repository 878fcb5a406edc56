/** What bodies, the budget for them and their time-outs come to, worked out without a server: the model of the body reader. */
import fc from "fast-check";

/** Of the app, in bytes. */
export const maxBody = 40;
export const maxStream = 60;
export const bodyBudget = 70;
/** Of the listener, for which the clock is held. */
export const bodyTimeoutMs = 20_000;

/**
 * What a handler does with its body. `whole` holds it; `parts` reads to the end and then waits for its gate; `first` and
 * `both` read one part, and three at once, wait, and read on; `late` waits before it reads; `after` answers before it reads;
 * `racing` answers while it reads; `none` reads nothing.
 */
export type Kind = "whole" | "parts" | "first" | "both" | "late" | "after" | "racing" | "none";
const kinds: readonly Kind[] = ["whole", "parts", "first", "both", "late", "after", "racing", "none"];

/** A step; `of` is the request, in the order they were asked. */
export type Step =
  | {
      readonly does: "ask";
      readonly kind: Kind;
      readonly peer: number;
      readonly length: number;
      readonly chunked: boolean;
    }
  | { readonly does: "send"; readonly of: number; readonly bytes: number }
  | { readonly does: "end"; readonly of: number }
  | { readonly does: "cut"; readonly of: number }
  | { readonly does: "open"; readonly of: number }
  /** Time passes: twice the shorter exceeds the time in which a body may stall, and three times exceeds the other limit. */
  | { readonly does: "pass"; readonly ms: number };

const most = 6;
const of = fc.nat(most - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("ask" as const),
      kind: fc.constantFrom<Kind>("whole", "whole", ...kinds),
      peer: fc.nat(2),
      length: fc.oneof(fc.nat(70), fc.constantFrom(0, maxBody, maxBody + 1, maxStream, maxStream + 1)),
      chunked: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ does: fc.constant("send" as const), of, bytes: fc.integer({ min: 1, max: 45 }) }),
  },
  { weight: 4, arbitrary: fc.record({ does: fc.constantFrom("end" as const, "open" as const), of }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("cut" as const), of }) },
  { weight: 2, arbitrary: fc.constantFrom(9000, 25_000).map((ms) => ({ does: "pass" as const, ms })) },
);

export const script: fc.Arbitrary<readonly Step[]> = fc.array(step, { minLength: 1, maxLength: 25 });

export interface Answered {
  readonly status: number;
  readonly body: string;
}

/** Where the requests of a script are played. */
export interface World {
  readonly hasClock: boolean;
  /** Whether a chunked body is dropped before the answer: its end decides whether the connection stays open. */
  readonly dropsFirst: boolean;
  /** Whether an answer is seen of a request that was cut. */
  readonly seesCut: boolean;
  readonly bodyShare: number;
  ask(asked: Asked): Promise<void>;
  send(asked: Asked, bytes: number): void;
  end(asked: Asked): void;
  cut(asked: Asked): void;
  open(asked: Asked): void;
  pass(ms: number): void;
  /** What was done so far is with the server. */
  settle(): Promise<void>;
  answerOf(asked: Asked): Answered | undefined;
  /** The results of reads that are not awaited. */
  readonly late: readonly unknown[];
}

/** One request, as it should be. */
export class Asked {
  readonly key: number;
  readonly kind: Kind;
  readonly peer: string;
  readonly chunked: boolean;
  /** Bytes that its client means to send; of one in chunks, as far as that goes. */
  readonly length: number;
  sent = 0;
  hasEnded = false;
  isCut = false;
  isOpen = false;
  /** Chunks that arrived and are not read. */
  readonly unread: number[] = [];
  read = 0;
  held = 0;
  /** Reads before the gate that are still to come. */
  before: number;
  failure: number | undefined = undefined;
  /** How long it has waited for its client, in all. */
  waitedMs = 0;
  answer: Answered | undefined = undefined;
  isSeen = false;

  constructor(key: number, { kind, peer, chunked, length }: Extract<Step, { does: "ask" }>) {
    this.key = key;
    this.kind = kind;
    this.peer = `10.0.0.${peer}`;
    this.chunked = chunked;
    this.length = length;
    this.before = {
      whole: 0,
      parts: Number.POSITIVE_INFINITY,
      first: 1,
      both: 3,
      racing: 1,
      late: 0,
      after: 0,
      none: 0,
    }[kind];
    if (!chunked && length === 0) this.hasEnded = true;
  }

  /** Its declared length is more than a handler reads part by part. */
  get isTooLong(): boolean {
    return !this.chunked && this.length > maxStream;
  }

  /** It waits for its client to send more. */
  get waitsForBody(): boolean {
    if (this.answer !== undefined || this.kind === "none" || this.kind === "after") return false;
    if (this.failure !== undefined || this.hasEnded) return false;
    return this.kind === "whole" || this.before > 0 || this.isOpen;
  }
}

/** The answers that a sequence of steps should come to, and the budget between them. */
class Model {
  readonly all: Asked[] = [];
  readonly #share: number;
  readonly #dropsFirst: boolean;

  constructor({ bodyShare, dropsFirst }: Pick<World, "bodyShare" | "dropsFirst">) {
    this.#share = bodyShare;
    this.#dropsFirst = dropsFirst;
  }

  ask(step: Extract<Step, { does: "ask" }>): Asked {
    const asked = new Asked(this.all.length, step);
    this.all.push(asked);
    if (asked.kind === "whole" && !asked.chunked && asked.length > 0) {
      if (asked.length > maxBody) this.#answer(asked, 413);
      else if (!this.#hasRoom(asked, asked.length)) this.#answer(asked, 503);
    }
    this.#goOn(asked);
    return asked;
  }

  send(asked: Asked, bytes: number): void {
    asked.sent += bytes;
    asked.unread.push(bytes);
    if (!asked.chunked && asked.sent === asked.length) asked.hasEnded = true;
    this.#goOn(asked);
  }

  end(asked: Asked): void {
    asked.hasEnded = true;
    this.#goOn(asked);
  }

  cut(asked: Asked): void {
    asked.isCut = true;
    asked.unread.length = 0;
    // Of a body that was read to its end nothing is lost. A declared length that is too long is refused before anything is read.
    if (!asked.hasEnded || asked.kind !== "whole") asked.failure ??= asked.isTooLong ? 413 : 400;
    this.#goOn(asked);
  }

  open(asked: Asked): void {
    asked.isOpen = true;
    this.#goOn(asked);
  }

  pass(ms: number): void {
    for (const asked of this.all) {
      if (asked.waitsForBody) asked.waitedMs += ms;
      if (asked.waitsForBody && asked.waitedMs > bodyTimeoutMs) asked.failure = 400;
      this.#goOn(asked);
      if (asked.answer !== undefined) asked.isSeen = true;
    }
  }

  /** The number of reads without a waiting caller that are over by now: with a chunk, at the body's end, or after the answer. */
  get late(): number {
    return this.all.filter(({ kind, isOpen, before, failure, hasEnded, answer }) => {
      if (kind === "after") return isOpen;
      return kind === "racing" && (before === 0 || failure !== undefined || hasEnded || answer !== undefined);
    }).length;
  }

  /** How many of those reads may say that the body is over: nothing of it is missing. */
  get lateEnds(): number {
    return this.all.filter(({ kind, sent, hasEnded }) => {
      return (kind === "after" || kind === "racing") && sent === 0 && hasEnded;
    }).length;
  }

  /** What a client should have by now. */
  seen(asked: Asked): Answered | undefined {
    return asked.isSeen ? asked.answer : undefined;
  }

  #goOn(asked: Asked): void {
    if (asked.answer === undefined) this.#handle(asked);
    const { answer } = asked;
    if (answer === undefined) return;
    const waits =
      this.#dropsFirst && asked.chunked && !asked.hasEnded && answer.status !== 503 && answer.status !== 400;
    if (!waits) asked.isSeen = true;
  }

  #handle(asked: Asked): void {
    const { kind } = asked;
    if (kind === "after") return this.#answer(asked, 200, "after");
    if (kind === "none") {
      if (asked.isOpen) this.#answer(asked, 200, "none");
      return;
    }
    if (kind === "whole") {
      this.#take(asked);
      if (asked.failure !== undefined) return this.#answer(asked, asked.failure);
      if (asked.hasEnded && asked.isOpen) this.#answer(asked, 200, String(asked.read));
      return;
    }
    while (asked.before > 0 && this.#part(asked)) asked.before--;
    // An iteration throws what went wrong.
    if (kind === "parts" && asked.failure !== undefined) return this.#answer(asked, asked.failure);
    if (kind === "racing") {
      if (asked.isOpen) this.#answer(asked, 200, "racing");
      return;
    }
    if (asked.before > 0 && asked.failure === undefined && !asked.hasEnded) return;
    asked.before = 0;
    if (!asked.isOpen) return;
    while (this.#part(asked));
    if (asked.failure !== undefined) this.#answer(asked, asked.failure);
    else if (asked.hasEnded) this.#answer(asked, 200, String(asked.read));
  }

  /** All received bytes of a body that is held whole. */
  #take(asked: Asked): void {
    for (const part of asked.unread.splice(0)) {
      if (asked.failure !== undefined) return;
      asked.read += part;
      if (asked.read > maxBody) asked.failure = 413;
      else if (this.#hasRoom(asked, part)) asked.held += part;
      else asked.failure = 503;
    }
  }

  /** The next part of a body that is read as it comes: the one before it is let go. False where there is none. */
  #part(asked: Asked): boolean {
    if (asked.failure !== undefined) {
      asked.held = 0;
      return false;
    }
    asked.held = 0;
    if (asked.isTooLong) asked.failure = 413;
    const part = asked.failure === undefined ? asked.unread.shift() : undefined;
    if (part === undefined) return false;
    asked.read += part;
    if (asked.read > maxStream) asked.failure = 413;
    else if (!this.#hasRoom(asked, part)) asked.failure = 503;
    else asked.held = part;
    return asked.failure === undefined;
  }

  #hasRoom(asked: Asked, bytes: number): boolean {
    const held = this.#held() + bytes;
    if (held > bodyBudget) return false;
    return held <= this.#share || this.#held(asked.peer) + bytes <= this.#share;
  }

  #held(peer?: string): number {
    return this.all.reduce((sum, one) => sum + (peer === undefined || one.peer === peer ? one.held : 0), 0);
  }

  #answer(asked: Asked, status: number, body = ""): void {
    asked.held = 0;
    asked.answer = { status, body };
  }
}

/** Plays a script: after each step every request has the answer that it should have, and no other. */
export async function play(world: World, steps: readonly Step[]): Promise<void> {
  const model = new Model(world);
  for (const step of steps) {
    await take(world, model, step);
    await world.settle();
    agree(world, model, JSON.stringify(step));
  }
  for (const asked of model.all) {
    if (asked.isOpen) continue;
    await take(world, model, { does: "open", of: asked.key });
    // Two handlers that are opened at once read in any order.
    await world.settle();
  }
  // What a handler has yet to read of a body is lost when that is cut.
  await world.settle();
  for (const asked of model.all) {
    await take(world, model, { does: "cut", of: asked.key });
  }
  await world.settle();
  await take(world, model, { does: "pass", ms: 25_000 });
  await world.settle();
  agree(world, model, "its end");
}

async function take(world: World, model: Model, step: Step): Promise<void> {
  if (step.does === "ask") {
    if (model.all.length < most) await world.ask(model.ask(step));
    return;
  }
  if (step.does === "pass") {
    if (!world.hasClock) return;
    world.pass(step.ms);
    return model.pass(step.ms);
  }
  const asked = model.all[step.of];
  if (asked === undefined) return;
  if (step.does === "open") {
    if (asked.isOpen) return;
    world.open(asked);
    return model.open(asked);
  }
  if (asked.hasEnded || asked.isCut) return;
  if (step.does === "cut") {
    world.cut(asked);
    return model.cut(asked);
  }
  const left = asked.chunked ? Number.POSITIVE_INFINITY : asked.length - asked.sent;
  const bytes = step.does === "send" ? Math.min(step.bytes, left) : asked.chunked ? 0 : left;
  if (bytes > 0) {
    world.send(asked, bytes);
    model.send(asked, bytes);
  }
  if (step.does === "end" && asked.chunked) {
    world.end(asked);
    model.end(asked);
  }
}

function isEnd(read: unknown): boolean {
  const { ok, value } = read as { readonly ok: boolean; readonly value?: unknown };
  return ok && value === undefined;
}

function agree(world: World, model: Model, after: string): void {
  if (world.late.length !== model.late) {
    throw new Error(
      `after ${after}: ${world.late.length} reads that nobody waits for are over, and should be ${model.late}`,
    );
  }
  const ends = world.late.filter((read) => isEnd(read)).length;
  if (ends > model.lateEnds) throw new Error(`after ${after}: ${ends} bodies were cut, and said to be over`);
  for (const asked of model.all) {
    if (asked.isCut && !world.seesCut) continue;
    const [is, should] = [world.answerOf(asked), model.seen(asked)];
    const same = is?.status === should?.status && (is?.status !== 200 || is.body === should?.body);
    if (same) continue;
    throw new Error(
      `after ${after}: request ${asked.key} (${asked.kind}) has ${JSON.stringify(is)}, and should have ${JSON.stringify(should)}`,
    );
  }
}

import type { Answer } from "../exchange/answer.ts";
import type { HandlerGuard, Held, RequestEnd, TaskList } from "../inputs/request.ts";
import { busy, refuse } from "../refusals.ts";
import type { RunningWork } from "./running-work.ts";

/*
 * The end of a request has two actors: the work of its route, and the reply to its client. Either may end first: by a deadline,
 * middleware that answers itself, a client that leaves, or a stream that outlives its handler. Both only move forward, so that whatever
 * happens with a move happens once.
 */

/**
 * Where the inputs and the handler of the route are.
 *
 * - `none`: no route has begun. What is answered without one ends there.
 * - `running`: they run. They may acquire, read the body, and set headers of the answer.
 * - `late`: the deadline passed while they ran. What they acquired is rolled back, and what they answer is dropped.
 * - `keeping`: there is their answer, and what they acquired is committed or rolled back.
 * - `over`: nothing of it runs.
 */
export type WorkAt = "none" | "running" | "late" | "keeping" | "over";

/**
 * Where the reply is.
 *
 * - `awaited`: nothing is chosen.
 * - `overdue`: the deadline has passed. Middleware got the answer of the deadline, and has a second for its own.
 * - `making`: an answer is chosen, and its response is made.
 * - `following`: the head goes out. A stream, a socket or a takeover follows it.
 * - `ended`: nothing follows.
 */
export type ReplyAt = "awaited" | "overdue" | "making" | "following" | "ended";

/** What happens to either of them. */
export type EndEvent =
  | "begins"
  /** The handler has answered, or an input or the handler refused or raised; and there is something to be kept. */
  | "keeps"
  /** The same, where there is nothing to be kept. */
  | "done"
  /** What was to be kept is committed or rolled back. */
  | "kept"
  /** The deadline passes. */
  | "expires"
  /** An answer is chosen. */
  | "chosen"
  /** A response is made, and something follows its head. */
  | "follows"
  /** A response is made that is whole. */
  | "sent"
  /** What followed the head has ended. */
  | "over";

type Moves<At extends string> = { readonly [From in At]: { readonly [E in EndEvent]?: At } };

const works: Moves<WorkAt> = {
  none: { begins: "running" },
  running: { keeps: "keeping", done: "over", expires: "late" },
  late: { done: "over" },
  keeping: { kept: "over" },
  over: {},
};

const replies: Moves<ReplyAt> = {
  awaited: { expires: "overdue", chosen: "making" },
  overdue: { chosen: "making" },
  making: { follows: "following", sent: "ended" },
  following: { expires: "ended", over: "ended" },
  ended: {},
};

/** Where both are, and what follows from that. */
export interface Point {
  readonly work: WorkAt;
  readonly reply: ReplyAt;
  /** Nothing can be added to the answer any more. */
  readonly isFrozen: boolean;
  /** An answer is chosen: what else is answered is dropped. */
  readonly isAnswered: boolean;
  /** Nothing uses what was acquired: the reply has ended, and the work runs no more, or is late. */
  readonly isLeft: boolean;
  /** Where an event leads to. One that is missing comes too late, or too early, and changes nothing. */
  readonly on: { readonly [E in EndEvent]?: Point };
}

/** Makes every point once, so that a move of a request is one look-up. */
function pointsFrom(start: readonly [WorkAt, ReplyAt]): Point {
  const made = new Map<string, Point>();
  const pointAt = (work: WorkAt, reply: ReplyAt): Point => {
    const found = made.get(work + reply);
    if (found !== undefined) return found;
    const isAnswered = reply !== "awaited" && reply !== "overdue";
    const isFrozen = isAnswered || (work !== "none" && work !== "running");
    const on: { [E in EndEvent]?: Point } = {};
    const point = { work, reply, isFrozen, isAnswered, isLeft: reply === "ended" && work !== "running", on };
    made.set(work + reply, point);
    for (const event of new Set([...Object.keys(works[work]), ...Object.keys(replies[reply])]) as Set<EndEvent>) {
      // A deadline is of the reply: it cuts no work whose request is answered.
      if (event === "expires" && replies[reply].expires === undefined) continue;
      on[event] = pointAt(works[work][event] ?? work, replies[reply][event] ?? reply);
    }
    return point;
  };
  return pointAt(...start);
}

export const start: Point = /* @__PURE__ */ pointsFrom(["none", "awaited"]);

/** How a request ends where something went wrong, the worst last. */
const mishaps = ["client gone", "stopped", "failed", "timed out"] as const;
type Mishap = (typeof mishaps)[number];

/**
 * What became of what the handler did, the worst last. `undone`: the deadline passed before a transaction was committed. `failed`: an
 * input or the handler raised. `unknown`: a commit whose connection was lost, or one that followed another.
 */
const effects = ["kept", "undone", "failed", "unknown"] as const;
type Effect = (typeof effects)[number];

/** Work for after the answer. */
export interface Task {
  readonly run: (end: RequestEnd) => unknown;
  /** Whether it runs although the answer is a refusal. */
  readonly always: boolean;
}

interface EndingRequest {
  readonly app: { readonly work: RunningWork };
  /** From now on nothing is added to the answer, and nothing of the body is held. `isCut`: the handler has not answered. */
  freeze(isCut: boolean): void;
}

/** What moves do that other files know. */
export interface EndActs<R> {
  /** Nothing uses what was acquired any more. Called again for what is acquired later. */
  release(request: R, end: RequestEnd): void;
  /** The answer is on its way: a task may run. */
  start(request: R, task: Task, end: RequestEnd): void;
}

/** The end of one request: where its work and its reply are, what is held until then, and what runs after it. */
export class Ending<R extends EndingRequest> implements TaskList {
  at: Point = start;
  effect: Effect = "kept";
  mishap: Mishap | undefined = undefined;
  /** What the inputs acquired and is not released, in the order of acquiring. */
  held: Held[] | undefined = undefined;
  /** What guards the handler, if an input has such a guard. */
  guard: HandlerGuard | undefined = undefined;
  /** The handler's answer, once it is handed to the inputs that keep what they acquired: a transaction commits. */
  answer: Answer | undefined = undefined;
  /** Settles once what was acquired is committed or rolled back; undefined where that is not pending. Never rejects. */
  keeping: Promise<unknown> | undefined = undefined;
  /** Settles once the acquire of a value has; undefined where none runs. Inputs acquire one after the other. Never rejects. */
  acquiring: Promise<unknown> | undefined = undefined;
  /** Settles once the producer of its stream has ended, which may outlast the stream. Never rejects. */
  producing: Promise<void> | undefined = undefined;
  /** How the reply ended, by itself. */
  #how: RequestEnd["how"] = "answered";
  /** What was sent; 0 before. */
  #status = 0;
  #code: string | undefined = undefined;
  #tasks: Task[] | undefined = undefined;
  readonly #request: R;
  readonly #acts: EndActs<R>;

  constructor(request: R, acts: EndActs<R>) {
    this.#request = request;
    this.#acts = acts;
  }

  /** Moves the work, or the reply, or both. False where the event comes too late, or too early. */
  on(event: EndEvent): boolean {
    const from = this.at;
    const to = from.on[event];
    if (to === undefined) return false;
    this.at = to;
    if (event === "expires") this.went("timed out");
    if (to.isFrozen && !from.isFrozen) this.#request.freeze(to.work === "late" || to.work === "running");
    if (to.isLeft && !from.isLeft && (this.held ?? this.acquiring) !== undefined)
      this.#acts.release(this.#request, this.#endBy(this.#how));
    return true;
  }

  get hasTimedOut(): boolean {
    return this.mishap === "timed out";
  }

  /** Something went wrong. The worst of it decides how the request ended. */
  went(mishap: Mishap): void {
    if (this.mishap === undefined || mishaps.indexOf(mishap) > mishaps.indexOf(this.mishap)) this.mishap = mishap;
  }

  /** The worst of it decides whether the work is kept. */
  affected(effect: Effect): void {
    if (effects.indexOf(effect) > effects.indexOf(this.effect)) this.effect = effect;
  }

  /** A response is made. Its tasks run once it was written, and later ones at once. */
  sent({ status, refused }: Answer, follows: boolean): void {
    this.#status = status;
    this.#code = refused?.code.name;
    if (!this.on(follows ? "follows" : "sent") || this.#tasks === undefined) return;
    const end = this.#endBy("answered");
    for (const task of this.#tasks.splice(0)) {
      if (task.always || refused === undefined) this.#acts.start(this.#request, task, end);
      else this.#request.app.work.free();
    }
  }

  /** What followed the head has ended. */
  over(how: RequestEnd["how"]): void {
    if (this.at.reply === "following") this.#how = how;
    this.on("over");
  }

  acquires(value: Promise<unknown>): void {
    const settled = (): void => {
      this.acquiring = undefined;
    };
    this.acquiring = value.then(settled, settled);
  }

  hold(held: Held): void {
    (this.held ??= []).push(held);
    // It was acquired too late. Where a release waits for the acquire, it takes this one, too.
    if (this.at.isLeft && this.acquiring === undefined) this.#acts.release(this.#request, this.#endBy(this.#how));
  }

  add(run: Task["run"], always: boolean): void {
    const { app } = this.#request;
    // A handler whose deadline has passed adds it too late.
    if (this.#code !== undefined && !always) return;
    if (!app.work.take()) throw refuse(busy, undefined, { detail: "maxAfter tasks wait or run" });
    if (this.#status === 0) (this.#tasks ??= []).push({ run, always });
    else this.#acts.start(this.#request, { run, always }, this.#endBy("answered"));
  }

  #endBy(how: RequestEnd["how"]): RequestEnd {
    const code = this.#code;
    const usual = how === "answered" && code !== undefined ? "refused" : how;
    return { how: this.mishap ?? usual, status: this.#status, code };
  }
}

/** A stream of messages that a client may leave and resume by `Last-Event-ID`. */
import * as Event from "../../src/events/index.ts";
import type { Event as EventOf } from "../../src/events/event.ts";
import type { Result } from "../../src/result.ts";

/** Sends one event; not ok once the client has gone. */
export type SendEvent = (event: EventOf<unknown>) => Promise<Result<void, "gone">>;

/** What becomes of a call whose client has left its stream. */
interface WhenLeft {
  readonly afterMs: number;
  readonly isStopping: () => boolean;
  readonly call: AbortController;
}

/** The room that the streams of one session share. */
export interface Room {
  /** How many messages they had so far. */
  messages: number;
  /** Drops messages where there are too many. */
  readonly make: () => void;
}

interface KeptMessage {
  readonly number: number;
  readonly text: string;
  /** Its number among the messages of all streams. */
  readonly order: number;
  /** Whether it is the result of the call. */
  readonly isLast: boolean;
}

/** Whether a message is dropped before another one: the older one, and a result after all progress. A client waits for it. */
export function isBefore(one: KeptMessage | undefined, other: KeptMessage | undefined): boolean {
  if (one === undefined || other === undefined) return one !== undefined;
  return one.isLast === other.isLast ? one.order < other.order : other.isLast;
}

const MessageEvent = Event.text("message");
/** How often a call without a client looks whether the server stops. */
const lookMs = 500;

/** The messages of one call. A client that reads them slows the call down; without one they are kept, as far as there is room. */
export class KeptStream {
  readonly id: number;
  readonly #room: Room;
  readonly #left: WhenLeft;
  readonly #messages: KeptMessage[] = [];
  #kept = 0;
  #last = 0;
  /** The number of the last message that the present reader has. */
  #read = 0;
  #reader: object | undefined = undefined;
  #isDone = false;
  #wake: () => void = () => {};
  #changed: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(id: number, room: Room, left: WhenLeft) {
    this.id = id;
    this.#room = room;
    this.#left = left;
    this.#change();
    left.call.signal.addEventListener("abort", () => this.#change());
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** How many units of text it keeps. */
  get kept(): number {
    return this.#kept;
  }

  /** Adds a message; resolves once the reader has it, or there is no reader, or the call is cancelled. */
  async add(text: string, isLast: boolean = false): Promise<void> {
    const { signal } = this.#left.call;
    const number = ++this.#last;
    this.#messages.push({ number, text, order: ++this.#room.messages, isLast });
    this.#kept += text.length;
    this.#change();
    while (this.#reader !== undefined && this.#read < number && !signal.aborted) await this.#changed;
    this.#room.make();
  }

  /** The last message is added. */
  end(): void {
    this.#isDone = true;
    clearTimeout(this.#timer);
    this.#change();
  }

  /** The oldest message that may be dropped. */
  get oldest(): KeptMessage | undefined {
    const [first] = this.#messages;
    // What a reader has not yet read stays: the call waits for it.
    return first === undefined || (this.#reader !== undefined && first.number > this.#read) ? undefined : first;
  }

  /** Drops the oldest message. Answers how much is free by that. */
  drop(): number {
    const length = this.#messages.shift()?.text.length ?? 0;
    this.#kept -= length;
    return length;
  }

  /**
   * Its first reader comes: until then a call waits for it, as for one that reads slowly, but no longer than for one that comes
   * back. Without that a call would run on, and drop progress, before its client can read.
   *
   * @returns What to call if the reader does not come.
   */
  expectReader(): () => void {
    const reader = {};
    this.#reader = reader;
    this.#look(this.#left.afterMs);
    return () => {
      if (this.#reader === reader) this.leave();
    };
  }

  /** Sends what comes after a message, to its end, or until the client has gone. A later reader takes the place of an earlier one. */
  async read(after: number, send: SendEvent, gone: AbortSignal): Promise<void> {
    // The signal would never say that this reader has left.
    if (gone.aborted) return;
    const reader = {};
    gone.addEventListener("abort", () => {
      if (this.#reader === reader) this.leave();
    });
    this.#reader = reader;
    this.#read = Math.min(after, this.#last);
    clearTimeout(this.#timer);
    this.#change();
    while (this.#reader === reader) {
      const next = this.#messages.find(({ number }) => number > this.#read);
      if (next === undefined && this.#isDone) break;
      if (next === undefined) {
        await this.#changed;
        continue;
      }
      const sent = await send(Event.make(MessageEvent, next.text, { id: `${this.id}.${next.number}` }));
      if (!sent.ok) break;
      if (this.#reader === reader) this.#read = next.number;
      this.#change();
    }
    if (this.#reader === reader) this.leave();
  }

  /** The event that a client can resume from before the first message. */
  first(): EventOf<unknown> {
    return Event.make(MessageEvent, "", { id: `${this.id}.0` });
  }

  /** It has no reader: after a while the call is cancelled. */
  leave(): void {
    this.#reader = undefined;
    clearTimeout(this.#timer);
    this.#change();
    this.#room.make();
    if (!this.#isDone) this.#look(this.#left.afterMs);
  }

  #look(leftMs: number): void {
    if (leftMs <= 0 || this.#left.isStopping()) {
      this.#reader = undefined;
      this.#left.call.abort();
      return;
    }
    this.#timer = setTimeout(() => this.#look(leftMs - lookMs), Math.min(lookMs, leftMs));
    (this.#timer as { unref?: () => void }).unref?.();
  }

  #change(): void {
    this.#wake();
    this.#changed = new Promise((resolve) => (this.#wake = resolve));
  }
}

import { current } from "../logging/context.ts";
import type { Level } from "../logging/entry.ts";
import { inBackground } from "../logging/raised.ts";
import { log } from "../logging/writer.ts";
import { OldestFirst } from "../oldest-first.ts";
import { freshHex } from "../telemetry/trace-context.ts";
import { eventOf } from "./event.ts";
import type { Hub } from "./hub.ts";

/** What a message of another process turned out to be, and whether one before it never came. */
interface HeardSender {
  /** Undefined where it only says how far its sender is. */
  readonly event: { readonly topic: string; readonly wire: string } | undefined;
  readonly isBehindGap: boolean;
}

// A sender for each process that was heard of; the one heard of longest ago goes first.
const maxSenders = 1000;

/**
 * The messages of one process among others. Each is numbered by its sender: so a process knows its own and passes over
 * them, takes none twice, and sees that one never came.
 */
export class SequenceNumbers {
  readonly #sender = freshHex(8);
  #last = 0;
  /** The last number of each other sender. */
  #heard = new OldestFirst<number>();

  /** The next message. Its number is used up, whether or not it can be sent: so the others see that it did not come. */
  event(topic: string, wire: string): string {
    return `${this.#sender} ${++this.#last} ${topic.length} ${topic}${wire}`;
  }

  /** A message that only says how far this process is. */
  mark(): string {
    return `${this.#sender} ${this.#last}`;
  }

  /** What a message says; `own` for one of this process, undefined for what was heard before or is no message. */
  read(message: string): HeardSender | "own" | undefined {
    const [head, sender = "", digits, topicLength] = /^([0-9a-f]{16}) (\d{1,16})(?: (\d{1,9}) |$)/.exec(message) ?? [];
    if (head === undefined) return undefined;
    if (sender === this.#sender) return "own";
    const isEvent = topicLength !== undefined;
    const end = head.length + Number(topicLength ?? 0);
    if (end > message.length) return undefined;
    const number = Number(digits);
    const known = this.#heard.get(sender);
    if (known !== undefined && (isEvent ? number <= known : number < known)) return undefined;
    this.#know(sender, number);
    const isBehindGap = known !== undefined && number > known + (isEvent ? 1 : 0);
    if (!isEvent) return { event: undefined, isBehindGap };
    return { event: { topic: message.slice(head.length, end), wire: message.slice(end) }, isBehindGap };
  }

  /** What comes next is not measured by what came before: there was a break. */
  forget(): void {
    this.#heard = new OldestFirst();
  }

  #know(sender: string, number: number): void {
    this.#heard.set(sender, number);
    if (this.#heard.size > maxSenders) this.#heard.deleteOldest();
  }
}

/** One connection to a message engine, from when it is open until it dies or is closed. */
export interface RelayConnection {
  /** Resolves once the engine has it; the messages of one line arrive in the order they were sent. */
  send(message: string): Promise<void>;
  /** Sends what it was given and ends; it may wait for the engine, and is destroyed where that takes too long. */
  close(): Promise<void>;
  /** Ends at once. */
  destroy(): void;
}

/** What a line tells while it is open. */
export interface RelayListener {
  readonly heard: (message: string) => void;
  /** It is of no use any more; told once, and never of a line that was closed. */
  readonly died: (why: unknown) => void;
}

/** A message engine that carries texts from each process to all of them, its own sender too. */
export interface RelayEngine {
  /** Whose log lines these are: `framework.redis`. */
  readonly source: string;
  /** A line that hears everything sent from then on. Rejects where there is none to be had. */
  open(listener: RelayListener): Promise<RelayConnection>;
  /** Calls it after that time, which alone does not keep the process running; answers what calls it off. */
  after(ms: number, act: () => void): () => void;
}

/** The seam to a message engine, which carries events between processes. One relay serves one hub. */
export interface Relay {
  /** Sends an event to every other process. */
  publish(topic: string, wire: string): Promise<void>;
  /**
   * Receives what the others publish, each event once and never what this process did; answers what ends that.
   *
   * @param missed Is called whenever events of the others may not have come: the hub then ends its subscriptions.
   */
  subscribe(receive: (topic: string, wire: string) => void, missed?: () => void): Promise<() => Promise<void>>;
}

/**
 * A hub whose events reach the other processes too. Publishing waits for none of them: what cannot be sent is logged. Where
 * events of the others were missed, nobody is left with a gap: each subscriber is told the end, as one that is dropped is.
 */
export function relayed<K, Tag>(hub: Hub<K, Tag>, relay: Relay): Hub<K, Tag> {
  const receive = (topic: string, wire: string): void => hub.publish(topic, eventOf(nameOf(wire), wire));
  const subscribed = relay.subscribe(receive, () => {
    said("warn", "a broadcast may have missed events of the other processes, so its subscriptions are ended");
    hub.close();
  });
  subscribed.catch((thrown: unknown) => failed("receive from", thrown));
  let unsent = 0;
  return {
    subscribe: (topic, tag) => hub.subscribe(topic, tag),
    publish(topic, event) {
      hub.publish(topic, event);
      relay.publish(topic, event.wire).then(
        () => {
          // Some of them the engine may have, and was cut off before it could say so.
          const untold = `${unsent} events may not have reached them`;
          if (unsent > 0) said("info", `a broadcast publishes to the other processes again; ${untold}`);
          unsent = 0;
        },
        (thrown: unknown) => {
          // The first of a row: an engine that is away would fill the log.
          if (unsent++ === 0) failed("publish to", thrown);
        },
      );
    },
    subscribers: (topic) => hub.subscribers(topic),
    topics: () => hub.topics(),
    close() {
      hub.close();
      subscribed.then((end) => end()).catch((thrown: unknown) => failed("leave", thrown));
    },
  };
}

// The name is the wire's first line: so it was written by whoever published.
function nameOf(wire: string): string | undefined {
  return /^event: ([^\n]*)\n/.exec(wire)?.[1];
}

// What an engine's client says may quote what it was sent, so only its kind is told.
function failed(what: string, thrown: unknown): void {
  const kind = thrown instanceof Error ? thrown.constructor.name : typeof thrown;
  said("error", `a broadcast could not ${what} the other processes`, { "error.kind": kind });
}

function said(level: Level, message: string, fields: { readonly [name: string]: string } = {}): void {
  log({ level, source: "framework.http", message, fields, context: current() });
}

/** A relay with a connection of its own. */
export interface OpenRelay extends Relay {
  /** Sends what was published and ends the connection. The hub that has it is closed first. */
  close(): Promise<void>;
}

interface Receiver {
  readonly receive: (topic: string, wire: string) => void;
  readonly missed: () => void;
}

// A line on which nothing comes for so long, not even what went out on it, is dead: TCP would take minutes to say so.
const heartbeatMs = 10_000;
const graceMs = 1000;
const closeMs = 5000;
const firstRetryMs = 100;
const maxRetryMs = 2000;
// Characters that the engine has not taken yet.
const maxWaitingCharacters = 16 * 1024 * 1024;

/** A relay over an engine. Rejects where the engine cannot be reached now; one that is lost later is connected to again. */
export async function relayOver(engine: RelayEngine): Promise<OpenRelay> {
  const relay = new EngineRelay(engine);
  await relay.open();
  return relay;
}

class EngineRelay implements OpenRelay {
  readonly #engine: RelayEngine;
  readonly #messages = new SequenceNumbers();
  readonly #receivers = new Set<Receiver>();
  #line: RelayConnection | undefined = undefined;
  #isClosed = false;
  #waiting = 0;
  #hasHeard = false;
  #lostAt = 0;
  #retryMs = firstRetryMs;
  /** Calls off what is due next: a beat, or the next try to connect. */
  #cancelTimers = (): void => {};

  constructor(engine: RelayEngine) {
    this.#engine = engine;
  }

  async publish(topic: string, wire: string): Promise<void> {
    await this.#send(this.#messages.event(topic, wire));
  }

  async subscribe(receive: Receiver["receive"], missed: Receiver["missed"] = () => {}): Promise<() => Promise<void>> {
    const receiver = { receive, missed };
    this.#receivers.add(receiver);
    return async () => {
      this.#receivers.delete(receiver);
    };
  }

  async open(): Promise<void> {
    const life: { line?: RelayConnection; isOver: boolean } = { isOver: false };
    // What is heard on a new line is not measured by what was heard on the one before.
    this.#messages.forget();
    const line = await this.#engine.open({
      heard: (message) => this.#hear(message),
      died: (why) => {
        life.isOver = true;
        if (life.line !== undefined && life.line === this.#line) this.#lose(why);
      },
    });
    if (this.#isClosed || life.isOver) {
      line.destroy();
      throw new Error(this.#isClosed ? "the relay was closed" : "the connection ended as soon as it was open");
    }
    life.line = line;
    this.#line = line;
    this.#heartbeatTimer();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelTimers();
    this.#receivers.clear();
    const line = this.#line;
    this.#line = undefined;
    if (line === undefined) return;
    const callOff = this.#engine.after(closeMs, () => line.destroy());
    await line.close().catch(() => line.destroy());
    callOff();
  }

  async #send(message: string): Promise<void> {
    if (this.#line === undefined) throw new Error("there is no connection");
    if (this.#waiting + message.length > maxWaitingCharacters) throw new Error("too much waits to be sent");
    this.#waiting += message.length;
    try {
      await this.#line.send(message);
    } finally {
      this.#waiting -= message.length;
    }
  }

  #hear(message: string): void {
    this.#hasHeard = true;
    const heard = this.#messages.read(message);
    if (heard === "own" || heard === undefined) return;
    if (heard.isBehindGap) this.#tellMissed();
    const { event } = heard;
    if (event !== undefined) this.#tell(({ receive }) => receive(event.topic, event.wire));
  }

  #tellMissed(): void {
    this.#tell(({ missed }) => missed());
  }

  // What one raises is neither the connection's fault nor the others'.
  #tell(tell: (receiver: Receiver) => void): void {
    for (const receiver of this.#receivers) {
      try {
        tell(receiver);
      } catch (thrown) {
        this.#log("error", "what receives from a relay raised", { "error.kind": kindOf(thrown) });
      }
    }
  }

  /** Says how far this process is, so that the others see what they missed, and the line that it is alive. */
  #heartbeatTimer(): void {
    this.#hasHeard = false;
    // A line that it cannot be sent on says so itself.
    this.#send(this.#messages.mark()).catch(() => {});
    this.#cancelTimers = this.#engine.after(heartbeatMs, () => {
      if (this.#hasHeard) this.#scheduleHeartbeat();
      // A process that was held up itself has its timers first, and then what came meanwhile.
      else
        this.#cancelTimers = this.#engine.after(graceMs, () =>
          this.#hasHeard ? this.#scheduleHeartbeat() : this.#giveUp(),
        );
    });
  }

  #scheduleHeartbeat(): void {
    this.#retryMs = firstRetryMs;
    this.#heartbeatTimer();
  }

  #giveUp(): void {
    const line = this.#line;
    if (line === undefined) return;
    line.destroy();
    this.#lose(new Error("nothing was heard on it"));
  }

  #lose(why: unknown): void {
    this.#line = undefined;
    this.#lostAt = performance.now();
    const message = "a relay lost its connection: until it has another, no event goes from one process to the others";
    this.#log("warn", message, { "error.kind": kindOf(why) });
    this.#cancelTimers();
    this.#retry();
  }

  #retry(): void {
    const ms = this.#retryMs * (0.75 + Math.random() / 2);
    this.#retryMs = Math.min(this.#retryMs * 2, maxRetryMs);
    this.#cancelTimers = this.#engine.after(ms, () => inBackground(this.#reopen()));
  }

  async #reopen(): Promise<void> {
    try {
      await this.open();
    } catch {
      if (!this.#isClosed) this.#retry();
      return;
    }
    const duration = Math.round((performance.now() - this.#lostAt) * 1e6);
    this.#log("info", "a relay has a connection again; what was published meanwhile is missed", { duration });
    this.#tellMissed();
  }

  #log(level: Level, message: string, fields: { readonly [name: string]: string | number | undefined }): void {
    log({ level, source: this.#engine.source, message, fields, context: undefined });
  }
}

// What an engine's client says may quote what it was sent.
function kindOf(why: unknown): string {
  if (!(why instanceof Error)) return typeof why;
  const { code } = why as { readonly code?: unknown };
  return typeof code === "string" ? `${why.constructor.name} ${code}` : why.constructor.name;
}

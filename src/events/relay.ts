import { counted } from "../counted.ts";
import { current } from "../logging/context.ts";
import type { Level, LogFields } from "../logging/entry.ts";
import { inBackground, raisedCodes } from "../logging/raised.ts";
import { log } from "../logging/writer.ts";
import { OldestFirst } from "../oldest-first.ts";
import { freshHex } from "../telemetry/span.ts";
import { eventOf } from "./event.ts";
import type { Hub } from "./hub.ts";

/** A parsed message of another process. `hasGap` means that an earlier one of its sender is missing. */
interface SenderMessage {
  /** Undefined for a mark, which only has the sender's last number. */
  readonly event: { readonly topic: string; readonly wire: string } | undefined;
  readonly hasGap: boolean;
}

/** What is known of another sender. */
interface KnownSender {
  readonly last: number;
  /** For how long this process had received all that was sent, when the first message of the sender arrived. */
  readonly knownMs: number;
}

// A mark may come that much later than it says, behind what was sent before it.
const markLateMs = 10_000;
// Past this many senders, the one with the oldest message is forgotten.
const maxSenders = 1000;

/**
 * Numbers the messages of this process and checks the numbers of the others. So a process skips its own messages and
 * repeated ones, and notices missing ones.
 */
export class SequenceNumbers {
  readonly #sender = freshHex(8);
  #last = 0;
  #senders = new OldestFirst<KnownSender>();

  /** The next message. Its number is used even if sending fails, so that the others notice the gap. */
  event(topic: string, wire: string): string {
    return `${this.#sender} ${++this.#last} ${topic.length} ${topic}${wire}`;
  }

  /**
   * A message with this process's last number and no event.
   *
   * @param unsentMs How long ago an event was not sent, if this was not reported yet.
   */
  mark(unsentMs?: number): string {
    return `${this.#sender} ${this.#last}${unsentMs === undefined ? "" : ` -${unsentMs.toFixed(3)}`}`;
  }

  /**
   * Parses a message. Returns `own` for one of this process, undefined for a repeated or malformed one.
   *
   * @param connectedMs For how long this process has received all that was sent.
   */
  read(message: string, connectedMs = 0): SenderMessage | "own" | undefined {
    const [head, sender = "", digits, topicLength, unsentMs] =
      /^([0-9a-f]{16}) (\d{1,16})(?: (\d{1,9}) | -(\d{1,15}\.\d{3})$|$)/.exec(message) ?? [];
    if (head === undefined) return undefined;
    if (sender === this.#sender) return "own";
    const isEvent = topicLength !== undefined;
    const end = head.length + Number(topicLength ?? 0);
    if (end > message.length) return undefined;
    const number = Number(digits);
    const known = this.#senders.get(sender);
    if (known !== undefined && (isEvent ? number <= known.last : number < known.last)) return undefined;
    const { last = number, knownMs = connectedMs } = known ?? {};
    // What a sender did not send before its first message leaves no gap in its numbers. Its mark reports that, perhaps twice.
    const ago = Number(unsentMs);
    const isUntold = ago < connectedMs && connectedMs - ago < knownMs + markLateMs;
    this.#remember(sender, { last: number, knownMs: isUntold ? Number.NEGATIVE_INFINITY : knownMs });
    const hasGap = isUntold || number > last + (isEvent ? 1 : 0);
    if (!isEvent) return { event: undefined, hasGap };
    return { event: { topic: message.slice(head.length, end), wire: message.slice(end) }, hasGap };
  }

  /** Forgets the others' numbers, after a break in the connection. */
  forget(): void {
    this.#senders = new OldestFirst();
  }

  #remember(sender: string, known: KnownSender): void {
    this.#senders.set(sender, known);
    if (this.#senders.size > maxSenders) this.#senders.deleteOldest();
  }
}

/** One open connection to a message broker. */
export interface RelayConnection {
  /** Resolves once the broker has the message. The messages of one connection arrive in order. */
  send(message: string): Promise<void>;
  /** Called with each heartbeat: looks whether the others still receive what is sent, and ends the connection if not. */
  check?(): void;
  /** Sends pending messages and closes. The relay destroys a connection that takes too long. */
  close(): Promise<void>;
  /** Closes at once. */
  destroy(): void;
}

/** The events of an open connection. */
export interface RelayListener {
  readonly received: (message: string) => void;
  /** The connection is unusable. A second call, or one after `close`, does nothing. */
  readonly lost: (why: unknown) => void;
}

/** A message broker: it delivers each text to every process, the sender too. */
export interface RelayEngine {
  /** The logger name, as `framework.redis`. */
  readonly source: string;
  /** Which of several relays a line is about: the name that the program gave its channel. */
  readonly channel?: string;
  /**
   * Opens a connection that receives everything sent from then on.
   *
   * @param isAgain Whether the relay had one before: then the attempt does not keep the process running.
   */
  open(listener: RelayListener, isAgain: boolean): Promise<RelayConnection>;
  /** Calls `act` after `ms`, without keeping the process running. Returns a function that cancels the timer. */
  after(ms: number, act: () => void): () => void;
}

/** Carries events between processes. One relay serves one hub. */
export interface Relay {
  /** Sends an event to every other process. */
  publish(topic: string, wire: string): Promise<void>;
  /**
   * Receives the events of the other processes, each once. Resolves with a function that ends the subscription.
   *
   * @param missed Called when events of the others may be missing: the hub then ends its subscriptions.
   */
  subscribe(receive: (topic: string, wire: string) => void, missed?: () => void): Promise<() => Promise<void>>;
}

/**
 * A hub whose events also reach the other processes. `publish` does not wait for them; a failure is logged. If events of
 * the others were missed, every subscription ends, so that no subscriber continues with a gap.
 */
export function relayed<K, Tag>(hub: Hub<K, Tag>, relay: Relay): Hub<K, Tag> {
  const receive = (topic: string, wire: string): void => hub.publish(topic, eventOf(eventNameOf(wire), wire));
  const subscribed = relay.subscribe(receive, () => {
    logLine("warn", "a broadcast may have missed events of the other processes, so its subscriptions are ended");
    hub.close();
  });
  subscribed.catch((thrown: unknown) => logFailure("receive from", thrown));
  // `async`: a relay of the application's may throw at once, or return no promise.
  const passOn = async (topic: string, wire: string): Promise<void> => relay.publish(topic, wire);
  let unsent = 0;
  return {
    subscribe: (topic, tag) => hub.subscribe(topic, tag),
    publish(topic, event) {
      hub.publish(topic, event);
      passOn(topic, event.wire).then(
        () => {
          // The broker may have received some of them and lost the connection before it confirmed.
          const note = `${counted(unsent, "event")} may not have reached them`;
          if (unsent > 0) logLine("info", `a broadcast publishes to the other processes again; ${note}`);
          unsent = 0;
        },
        (thrown: unknown) => {
          // Only the first of a series: an unreachable broker would fill the log.
          if (unsent++ === 0) logUnsent(thrown);
        },
      );
    },
    subscribers: (topic) => hub.subscribers(topic),
    topics: () => hub.topics(),
    close() {
      hub.close();
      subscribed.then((end) => end()).catch((thrown: unknown) => logFailure("leave", thrown));
    },
  };
}

// The first line of an encoded event is its name.
function eventNameOf(wire: string): string | undefined {
  return /^event: ([^\n]*)\n/.exec(wire)?.[1];
}

function logUnsent(thrown: unknown): void {
  if (!(thrown instanceof RelayUnsent)) return logFailure("publish to", thrown);
  const message = `a broadcast could not publish to the other processes: ${thrown.message}`;
  logLine("warn", message, thrown.cause === undefined ? {} : raisedCodes(thrown.cause));
}

// The message of a broker's client may quote an event, so only its kind is logged.
function logFailure(what: string, thrown: unknown): void {
  logLine("error", `a broadcast could not ${what} the other processes`, raisedCodes(thrown));
}

function logLine(level: Level, message: string, fields: LogFields = {}): void {
  log({ level, source: "framework.http", message, fields, context: current() });
}

/** A relay did not send an event, for a reason that is no bug. Its message is the relay's own, and quotes nothing. */
class RelayUnsent extends Error {}

/** A relay with a connection of its own. */
export interface OpenRelay extends Relay {
  /** Sends pending events and closes the connection. Close the hub first. The process waits for it. */
  close(): Promise<void>;
}

interface Receiver {
  readonly receive: (topic: string, wire: string) => void;
  readonly missed: () => void;
}

// A connection that receives nothing for this long, not even its own marks, is dead: TCP takes minutes to notice.
const heartbeatMs = 10_000;
const graceMs = 1000;
const closeMs = 5000;
const firstRetryMs = 100;
const maxRetryMs = 2000;
// Characters that the broker has not confirmed yet.
const maxWaitingCharacters = 16 * 1024 * 1024;

/** Opens a relay. Rejects if the broker cannot be reached now; a connection lost later is opened again. */
export async function relayOver(engine: RelayEngine): Promise<OpenRelay> {
  const relay = new EngineRelay(engine);
  await relay.open();
  return relay;
}

/** A connection that is open. What it delivers after its relay has another state is dropped: `missed` comes with the next one. */
interface OpenState {
  readonly at: "open";
  readonly connection: RelayConnection;
  readonly openedAt: number;
  /** Whether something was received since the last heartbeat. */
  hasReceived: boolean;
  /** Whether events of the others may be missing, and no receiver knows yet. */
  hasMissed: boolean;
}

type RelayState = { readonly at: "opening" | "lost" | "closed" } | OpenState;

/**
 * Its moves:
 *
 * ```text
 * opened      opening, lost -> open;         closed: the connection is destroyed
 * lost        open -> lost, and it retries;  otherwise nothing
 * close       any -> closed
 * ```
 */
class EngineRelay implements OpenRelay {
  readonly #engine: RelayEngine;
  readonly #messages = new SequenceNumbers();
  readonly #receivers = new Set<Receiver>();
  #state: RelayState = { at: "opening" };
  /** How many publish or close. */
  #awaited = 0;
  #running: ReturnType<typeof setInterval> | undefined = undefined;
  #waiting = 0;
  /** When an event was not sent, until this is reported to the others. */
  #unsentAt: number | undefined = undefined;
  /** Grows with each attempt, until a heartbeat was answered. */
  #retryMs = firstRetryMs;
  /** Cancels the next heartbeat or reconnection. */
  #cancelTimers = (): void => {};

  constructor(engine: RelayEngine) {
    this.#engine = engine;
  }

  async publish(topic: string, wire: string): Promise<void> {
    try {
      await this.#awaiting(this.#send(this.#messages.event(topic, wire)));
    } catch (thrown) {
      this.#unsentAt = performance.now();
      throw thrown;
    }
  }

  async subscribe(receive: Receiver["receive"], missed: Receiver["missed"] = () => {}): Promise<() => Promise<void>> {
    const receiver = { receive, missed };
    this.#receivers.add(receiver);
    return async () => {
      this.#receivers.delete(receiver);
    };
  }

  async open(isAgain = false): Promise<void> {
    let opened: OpenState | "lost" | undefined;
    // Numbers seen on the previous connection would show gaps that `missed` already reports.
    this.#messages.forget();
    const listener: RelayListener = {
      received: (message) => {
        if (opened !== undefined && opened === this.#state) this.#receive(opened, message);
      },
      lost: (why) => {
        if (opened !== undefined && opened === this.#state) this.#onLost(why);
        else opened ??= "lost";
      },
    };
    const connection = await this.#engine.open(listener, isAgain);
    if (this.#isClosed || opened === "lost") {
      connection.destroy();
      throw new Error(this.#isClosed ? "the relay was closed" : "the connection ended as soon as it was open");
    }
    const state: OpenState = {
      at: "open",
      connection,
      openedAt: performance.now(),
      hasReceived: false,
      hasMissed: isAgain,
    };
    opened = state;
    this.#state = state;
    this.#heartbeat(state);
  }

  get #isClosed(): boolean {
    return this.#state.at === "closed";
  }

  async close(): Promise<void> {
    const state = this.#state;
    if (state.at === "closed") return;
    this.#state = { at: "closed" };
    this.#cancelTimers();
    this.#receivers.clear();
    if (state.at !== "open") return;
    const { connection } = state;
    const cancelTimer = this.#engine.after(closeMs, () => connection.destroy());
    await this.#awaiting(connection.close().catch(() => connection.destroy()));
    cancelTimer();
  }

  /** Keeps the process running until the work is done: the connection alone does not, and what awaits it would never continue. */
  async #awaiting(work: Promise<void>): Promise<void> {
    if (this.#awaited++ === 0) this.#running = setInterval(() => {}, heartbeatMs);
    try {
      await work;
    } finally {
      if (--this.#awaited === 0) clearInterval(this.#running);
    }
  }

  async #send(message: string): Promise<void> {
    const state = this.#state;
    if (state.at !== "open") throw new RelayUnsent("there is no connection");
    if (this.#waiting + message.length > maxWaitingCharacters) throw new RelayUnsent("too much waits to be sent");
    this.#waiting += message.length;
    try {
      await state.connection.send(message);
    } catch (thrown) {
      // While it is open, the broker refused the event: by a right that is missing, or a table.
      throw this.#state === state ? thrown : new RelayUnsent("the connection was lost", { cause: thrown });
    } finally {
      this.#waiting -= message.length;
    }
  }

  #receive(state: OpenState, message: string): void {
    state.hasReceived = true;
    const received = this.#messages.read(message, performance.now() - state.openedAt);
    if (received === "own" || received === undefined) return;
    // The first message may arrive in one packet with what opens a new connection, and before `open` resolves.
    if (received.hasGap || state.hasMissed) this.#reportMissed(state);
    const { event } = received;
    if (event !== undefined) this.#each(({ receive }) => receive(event.topic, event.wire));
  }

  #reportMissed(state: OpenState): void {
    state.hasMissed = false;
    this.#each(({ missed }) => missed());
  }

  // An error of one receiver must not affect the connection or the other receivers.
  #each(act: (receiver: Receiver) => void): void {
    for (const receiver of this.#receivers) {
      try {
        act(receiver);
      } catch (thrown) {
        this.#log("error", "what receives from a relay raised", raisedCodes(thrown));
      }
    }
  }

  /** Sends this process's last number: the others notice gaps, and its return shows that the connection works. */
  #heartbeat(state: OpenState): void {
    state.hasReceived = false;
    this.#sendMark();
    state.connection.check?.();
    const isAlive = (): boolean => {
      const { hasReceived } = state;
      if (hasReceived) this.#scheduleHeartbeat(state);
      return hasReceived;
    };
    this.#cancelTimers = this.#engine.after(heartbeatMs, () => {
      // After a blocked event loop the timers run before the pending messages, so wait a little longer.
      if (!isAlive()) this.#cancelTimers = this.#engine.after(graceMs, () => isAlive() || this.#giveUp(state));
    });
  }

  #sendMark(): void {
    const unsentAt = this.#unsentAt;
    this.#unsentAt = undefined;
    const mark = this.#messages.mark(unsentAt === undefined ? undefined : performance.now() - unsentAt);
    // A connection that cannot send reports `lost` itself.
    this.#send(mark).catch(() => (this.#unsentAt ??= unsentAt));
  }

  #scheduleHeartbeat(state: OpenState): void {
    this.#retryMs = firstRetryMs;
    this.#heartbeat(state);
  }

  #giveUp({ connection }: OpenState): void {
    connection.destroy();
    this.#onLost(new Error("nothing was received on it"));
  }

  #onLost(why: unknown): void {
    const lostAt = performance.now();
    this.#state = { at: "lost" };
    const message = "a relay lost its connection: until it has another, no event goes from one process to the others";
    this.#log("warn", message, raisedCodes(why));
    this.#cancelTimers();
    this.#retry(lostAt);
  }

  #retry(lostAt: number): void {
    const ms = this.#retryMs * (0.75 + Math.random() / 2);
    this.#retryMs = Math.min(this.#retryMs * 2, maxRetryMs);
    this.#cancelTimers = this.#engine.after(ms, () => inBackground(this.#reopen(lostAt)));
  }

  async #reopen(lostAt: number): Promise<void> {
    try {
      await this.open(true);
    } catch {
      if (!this.#isClosed) this.#retry(lostAt);
      return;
    }
    const duration = Math.round((performance.now() - lostAt) * 1e6);
    this.#log("info", "a relay has a connection again; what was published meanwhile is missed", { duration });
    const state = this.#state;
    if (state.at === "open" && state.hasMissed) this.#reportMissed(state);
  }

  #log(level: Level, message: string, fields: LogFields): void {
    const { source, channel } = this.#engine;
    const named = channel === undefined ? fields : { ...fields, "framework.relay.channel": channel };
    log({ level, source, message, fields: named, context: undefined });
  }
}

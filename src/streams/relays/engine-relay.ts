import { inBackground } from "../../logging/background.ts";
import { log } from "../../logging/writer.ts";
import type { Level } from "../../logging/level.ts";
import type { Relay } from "../relay.ts";
import type { Engine, EngineLine } from "./engine.ts";
import { Numbered } from "./numbered.ts";

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
const beatMs = 10_000;
const graceMs = 1000;
const closeMs = 5000;
const firstRetryMs = 100;
const mostRetryMs = 2000;
// Characters that the engine has not taken yet.
const mostWaiting = 16 * 1024 * 1024;

/** A relay over an engine. Rejects where the engine cannot be reached now; one that is lost later is connected to again. */
export async function relayOver(engine: Engine): Promise<OpenRelay> {
  const relay = new EngineRelay(engine);
  await relay.open();
  return relay;
}

class EngineRelay implements OpenRelay {
  readonly #engine: Engine;
  readonly #messages = new Numbered();
  readonly #receivers = new Set<Receiver>();
  #line: EngineLine | undefined = undefined;
  #isClosed = false;
  #waiting = 0;
  #hasHeard = false;
  #lostAt = 0;
  #retryMs = firstRetryMs;
  /** Calls off what is due next: a beat, or the next try to connect. */
  #callOff = (): void => {};

  constructor(engine: Engine) {
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
    const life: { line?: EngineLine; isOver: boolean } = { isOver: false };
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
    this.#beat();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#callOff();
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
    if (this.#waiting + message.length > mostWaiting) throw new Error("too much waits to be sent");
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
  #beat(): void {
    this.#hasHeard = false;
    // A line that it cannot be sent on says so itself.
    this.#send(this.#messages.mark()).catch(() => {});
    this.#callOff = this.#engine.after(beatMs, () => {
      if (this.#hasHeard) this.#beatAgain();
      // A process that was held up itself has its timers first, and then what came meanwhile.
      else this.#callOff = this.#engine.after(graceMs, () => (this.#hasHeard ? this.#beatAgain() : this.#giveUp()));
    });
  }

  #beatAgain(): void {
    this.#retryMs = firstRetryMs;
    this.#beat();
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
    this.#callOff();
    this.#retry();
  }

  #retry(): void {
    const ms = this.#retryMs * (0.75 + Math.random() / 2);
    this.#retryMs = Math.min(this.#retryMs * 2, mostRetryMs);
    this.#callOff = this.#engine.after(ms, () => inBackground(this.#reopen()));
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

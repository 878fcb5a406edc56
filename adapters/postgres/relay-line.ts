import { inBackground } from "../../src/logging/background.ts";
import type { Link } from "../../src/database/link.ts";
import { LinkFailure } from "../../src/database/link.ts";
import type { EngineLine, LineListener } from "../../src/streams/relays/engine.ts";
import { fetch, keep } from "./relay-table.ts";

/** A message, and whoever waits for it to be sent. */
interface Outgoing {
  readonly message: string;
  readonly sent: () => void;
  readonly failed: (why: unknown) => void;
}

// A payload has less than 8,000 bytes (PostgreSQL, NOTIFY), of which a character takes up to three for each UTF-16 unit.
const mostBytes = 7999;
const mostUnits = 2666;
// Fifty at once are sent eight times as fast as one by one, and no more is gained beyond.
const mostAtOnce = 50;
// What came and waits for one that is fetched: past it the line is given up, and all of it is missed.
const mostWaiting = 10_000;

const notify = "select pg_notify($1, message) from unnest($2::text[]) message";

/** One connection that listens and notifies. Its statements run one after the other; what is sent meanwhile goes together. */
export class RelayLine implements EngineLine {
  readonly #link: Link & { cut(why?: string): void };
  readonly #channel: string;
  readonly #pid: string;
  readonly #listener: LineListener;
  readonly #outgoing: Outgoing[] = [];
  /** What came, in its order, from the first that is still fetched. */
  readonly #incoming: string[] = [];
  #isRunning = false;
  #isEnded = false;
  #whenIdle = (): void => {};

  constructor(link: Link & { cut(why?: string): void }, channel: string, pid: string, listener: LineListener) {
    this.#link = link;
    this.#channel = channel;
    this.#pid = pid;
    this.#listener = listener;
  }

  send(message: string): Promise<void> {
    return new Promise((sent, failed) => {
      this.#outgoing.push({ message: escaped(message), sent, failed });
      inBackground(this.#run());
    });
  }

  async close(): Promise<void> {
    if (this.#isRunning) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    this.#isEnded = true;
    await this.#link.shut();
  }

  destroy(): void {
    this.#isEnded = true;
    this.#link.cut();
  }

  /** The connection closed, whoever did it. */
  ended(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#listener.died(new Error("the connection closed"));
  }

  notified(payload: string): void {
    if (this.#isEnded) return;
    if (this.#incoming.length === 0 && !payload.startsWith("=")) {
      this.#listener.heard(unescaped(payload));
      return;
    }
    if (this.#incoming.push(payload) > mostWaiting) this.#link.cut("more came than could be fetched");
    else inBackground(this.#run());
  }

  /** Sends and fetches until there is nothing to do. */
  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#outgoing.length > 0 || this.#incoming.length > 0) {
      if (this.#incoming.length > 0) await this.#fetch();
      if (this.#outgoing.length > 0) await this.#send();
    }
    this.#isRunning = false;
    this.#whenIdle();
  }

  async #send(): Promise<void> {
    const isFirstLong = isLong(this.#outgoing[0]?.message ?? "");
    const next = this.#outgoing.findIndex(({ message }, at) => at === mostAtOnce || isLong(message));
    const batch = this.#outgoing.splice(0, isFirstLong ? 1 : next === -1 ? mostAtOnce : next);
    const messages = batch.map(({ message }) => message);
    try {
      if (isFirstLong) await this.#link.run(keep, [this.#channel, messages[0] ?? ""]);
      else await this.#link.run(notify, [this.#channel, listText(messages)]);
      for (const { sent } of batch) sent();
    } catch (thrown) {
      if (batch.length > 1 && isRefusal(thrown)) await this.#sendEach(batch);
      else for (const { failed } of batch) failed(thrown);
    }
  }

  // One that the server refuses, as its encoding has no such character, keeps no other from being sent.
  async #sendEach(batch: readonly Outgoing[]): Promise<void> {
    for (const { message, sent, failed } of batch) {
      await this.#link.run(notify, [this.#channel, listText([message])]).then(sent, failed);
    }
  }

  /** Tells what came up to the next that is too long, and fetches that. */
  async #fetch(): Promise<void> {
    const [payload = ""] = this.#incoming;
    if (!payload.startsWith("=")) this.#listener.heard(unescaped(payload));
    else await this.#fetchOne(payload.slice(1).split(" "));
    this.#incoming.shift();
  }

  async #fetchOne([id = "", pid]: readonly string[]): Promise<void> {
    if (pid === this.#pid || !/^\d{1,18}$/.test(id)) return;
    try {
      const [row] = await this.#link.run(fetch, [id]);
      const message = row?.[0];
      // One that is there no more is missed, which the next of its sender shows.
      if (typeof message === "string" && !this.#isEnded) this.#listener.heard(unescaped(message));
    } catch {
      // As one that was not there. A connection that is lost says so itself.
    }
  }
}

function isLong(message: string): boolean {
  return message.length > mostUnits && Buffer.byteLength(message) > mostBytes;
}

function isRefusal(thrown: unknown): boolean {
  return thrown instanceof LinkFailure && thrown.trouble.kind === "refused";
}

function listText(messages: readonly string[]): string {
  return `{${messages.map((message) => `"${message.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

// PostgreSQL's texts hold every character but NUL.
function escaped(message: string): string {
  return /[\0\x01]/.test(message) ? message.replace(/\x01/g, "\x01\x01").replace(/\0/g, "\x01\x02") : message;
}

function unescaped(message: string): string {
  if (!message.includes("\x01")) return message;
  return message.replace(/\x01([\x01\x02])/g, (_, sign) => (sign === "\x01" ? "\x01" : "\0"));
}

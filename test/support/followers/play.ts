/** Plays a script on a server of its own that has a hub, and compares what each client receives with a model. */
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert";
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { vi } from "vitest";
import { Broadcast, Codec, Event, Header, Path, Returns, clientGone, get, param } from "usher-http";
import type { Hub, Route } from "usher-http";
import { serve } from "usher-http/node";
import type { Server } from "usher-http/node";
import { logWith, messages } from "../logs.ts";
import { sockets, turn } from "../memory.ts";
import { clients, keepAliveMs } from "./script.ts";
import type { Step, Topic } from "./script.ts";

const Tick = Event.text("tick");
/** Longer than any test runs: a stop that is over before has waited for the producers, and for nothing else. */
const drainMs = 600_000;

/** Waits by turns for what must come to be: the clock is held. */
async function until(isSo: () => boolean, what: string): Promise<void> {
  for (let i = 0; i < 20_000 && !isSo(); i++) await turn();
  ok(isSo(), what);
}

export async function play(script: readonly Step[]): Promise<void> {
  logWith({});
  const open = sockets();
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  try {
    await new Played().play(script);
    equal(vi.getTimerCount(), 0, "timers that are left");
  } finally {
    vi.useRealTimers();
  }
  await until(() => sockets() <= open, "sockets are left open");
}

let played = 0;

class Played {
  /** In its paths: a line of the log may come when the next script is played already. */
  readonly #number = ++played;
  readonly #hub: Hub<typeof Tick, number> = Broadcast.create({ depth: 4 });
  readonly #kept: { readonly topic: Topic; readonly id: number; readonly event: Event<typeof Tick> }[] = [];
  readonly #followers: (Follower | undefined)[] = Array.from({ length: clients }, () => undefined);
  #producing = 0;
  #came = 0;
  #now = 0;
  /** How many have gone by closing their connection: to the server a half-close, until it writes to them. */
  #leaving = 0;
  #stopped: Promise<number> | undefined = undefined;

  async play(script: readonly Step[]): Promise<void> {
    const server = await serve(this.#routes(), { port: 0, host: "127.0.0.1", signals: false, drainMs });
    try {
      for (const step of script) {
        await this.#take(step, server);
        await this.#compare();
      }
    } finally {
      for (const follower of this.#followers) await follower?.leave(false);
    }
    for (let i = 0; i < 3; i++) await vi.advanceTimersByTimeAsync(keepAliveMs);
    await until(() => this.#producing === 0, "a producer goes on whose client has gone");
    deepEqual(this.#hub.topics(), []);
    equal(await (this.#stopped ?? server.stop()), 0);
    const ended = messages("info").filter((line) => String(line).startsWith(`stream on /feed/${this.#number}/`));
    deepEqual([ended.length, messages("error")], [this.#came, []]);
  }

  #routes(): readonly Route[] {
    const topic = Path.str("topic");
    const last = Header.optional("last-event-id", Codec.int);
    const returns = Returns.events([Tick], { keepAliveMs });
    return [
      get(
        Path.of("feed", String(this.#number), topic),
        { inputs: { topic: param(topic), last, clientGone }, returns },
        ({ topic, last, clientGone }) => {
          return async (send) => {
            this.#producing++;
            const subscription = this.#hub.subscribe(topic, this.#came);
            try {
              const missed = this.#kept.filter((kept) => kept.topic === topic && last !== undefined && kept.id > last);
              for (const { event } of missed) if (!(await send(event)).ok) return;
              for (;;) {
                const event = await subscription.next({ until: clientGone });
                if (event === undefined || !(await send(event)).ok) return;
              }
            } finally {
              subscription.unsubscribe();
              this.#producing--;
            }
          };
        },
      ),
    ];
  }

  async #take(step: Step, server: Server): Promise<void> {
    switch (step.does) {
      case "come": {
        const before = this.#followers[step.on];
        if (this.#stopped !== undefined || before?.isOpen === true) return;
        await before?.leave(false);
        const last = step.resumes && before?.topic === step.topic ? before.last : undefined;
        const follower = new Follower(server.port, `/feed/${this.#number}/${step.topic}`, step.topic, last, this.#now);
        for (const { topic, id } of this.#kept) {
          if (topic === step.topic && last !== undefined && id > last) follower.expect(this.#textOf(id), id, this.#now);
        }
        this.#followers[step.on] = follower;
        this.#came++;
        await follower.began();
        return;
      }
      case "publish": {
        const id = this.#kept.length;
        const event = Event.make(Tick, "x".repeat(step.size), { id: String(id) });
        this.#kept.push({ topic: step.topic, id, event });
        this.#hub.publish(step.topic, event);
        for (const follower of this.#followers) {
          if (follower?.isOpen === true && follower.topic === step.topic) follower.expect(event.wire, id, this.#now);
        }
        return;
      }
      case "wait":
        this.#now += step.ms;
        await vi.advanceTimersByTimeAsync(step.ms);
        for (const follower of this.#followers) if (follower?.isOpen === true) follower.waits(this.#now);
        if (step.ms > 2 * keepAliveMs) this.#leaving = 0;
        return;
      case "close the hub":
        this.#hub.close();
        for (const follower of this.#followers) follower?.end("whole");
        return;
      case "stop":
        this.#stopped ??= server.stop();
        for (const follower of this.#followers) follower?.end("cut");
        return;
      case "leave":
      case "reset":
        if (step.does === "leave") this.#leaving++;
        await this.#followers[step.on]?.leave(step.does === "reset");
        return;
      case "stop reading":
        this.#followers[step.on]?.pause();
        return;
      case "read on":
        this.#followers[step.on]?.resume();
    }
  }

  #textOf(id: number): string {
    return this.#kept[id]?.event.wire ?? "";
  }

  /** Who reads has all that the model says, and nothing else; of who does not, it is the beginning. */
  async #compare(): Promise<void> {
    // Other bytes have arrived by then.
    for (let i = 0; i < 5; i++) await turn();
    for (const follower of this.#followers) await follower?.compare();
    const reading = this.#followers.filter((follower) => follower?.isOpen === true && !follower.hasPaused).length;
    const open = this.#followers.filter((follower) => follower?.isOpen === true).length;
    // One that was too slow was dropped, and one that has gone is let go of when that is known.
    await until(
      () => this.#producing >= reading && this.#producing <= open + this.#leaving,
      `${open} follow, and ${this.#producing} are sent to`,
    );
    const subscribed = this.#hub.topics().flatMap((topic) => this.#hub.subscribers(topic)).length;
    ok(subscribed <= this.#producing, `${subscribed} subscriptions of ${this.#producing} producers`);
  }
}

/** A client of one stream. */
class Follower {
  readonly topic: Topic;
  last: number | undefined;
  isOpen = true;
  hasPaused = false;
  readonly #socket: Socket;
  readonly #came: Buffer[] = [];
  #expected = "";
  #heardAt: number;
  #how: "whole" | "cut" | undefined = undefined;
  #hasEnded = false;

  constructor(port: number, path: string, topic: Topic, last: number | undefined, now: number) {
    this.topic = topic;
    this.last = last;
    this.#heardAt = now;
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.on("error", () => {});
    this.#socket.on("data", (part: Buffer) => this.#came.push(part));
    this.#socket.on("end", () => (this.#hasEnded = true));
    const lines = last === undefined ? [] : [`last-event-id: ${last}`];
    this.#socket.write([`GET ${path} HTTP/1.1`, "host: h", ...lines, "", ""].join("\r\n"));
  }

  began(): Promise<void> {
    return until(() => this.#body() !== undefined, "a stream begins");
  }

  expect(text: string, id: number, now: number): void {
    this.#expected += text;
    this.last = id;
    this.#heardAt = now;
  }

  /** A comment is sent after this time without other events. */
  waits(now: number): void {
    for (; this.#heardAt + keepAliveMs <= now; this.#heardAt += keepAliveMs) this.#expected += ": keep-alive\n\n";
  }

  end(how: "whole" | "cut"): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#how = how;
  }

  pause(): void {
    this.hasPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  async leave(isReset: boolean): Promise<void> {
    this.isOpen = false;
    if (this.#socket.closed) return;
    const closed = once(this.#socket, "close");
    if (isReset) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
    await closed;
  }

  async compare(): Promise<void> {
    if (this.#socket.destroyed) return;
    if (!this.hasPaused) {
      await until(() => (this.#body()?.text.length ?? 0) >= this.#expected.length, "all that was sent comes");
      if (this.#how !== undefined)
        await until(() => this.#body()?.isWhole === true || this.#hasEnded, "the stream ends");
    }
    const { text, isWhole } = this.#body() ?? { text: "", isWhole: false };
    if (this.hasPaused) return;
    ok(text === this.#expected, `${text.slice(0, 200)} came, and not ${this.#expected.slice(0, 200)}`);
    equal(isWhole, this.#how === "whole");
  }

  /** The received body, with its chunks joined; undefined if no head arrived. */
  #body(): { readonly text: string; readonly isWhole: boolean } | undefined {
    const all = Buffer.concat(this.#came);
    this.#came.splice(0, this.#came.length, all);
    const head = all.indexOf("\r\n\r\n");
    if (head === -1) return undefined;
    let text = "";
    for (let at = head + 4; ;) {
      const end = all.indexOf("\r\n", at);
      if (end === -1) return { text, isWhole: false };
      const size = Number.parseInt(all.toString("latin1", at, end), 16);
      if (size === 0) return { text, isWhole: true };
      text += all.toString("latin1", end + 2, Math.min(end + 2 + size, all.length));
      at = end + 2 + size + 2;
      if (at > all.length) return { text, isWhole: false };
    }
  }
}

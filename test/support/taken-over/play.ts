/** Plays a script to a server of its own, and says what must hold whatever the script was. */
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert";
import { serve } from "usher-http/node";
import type { Server } from "usher-http/node";
import { logWith, messages } from "../logs.ts";
import { active, sockets, turn } from "../memory.ts";
import { RawClient, leaveAll } from "../raw-client.ts";
import { Client, heardOf } from "./client.ts";
import { Speaking } from "./routes.ts";
import type { Spoken } from "./routes.ts";
import type { Step } from "./script.ts";

/** Longer than any test runs: a stop that is over before has waited for the handlers, and for nothing else. */
const drainMs = 600_000;

async function turns(): Promise<void> {
  for (let i = 0; i < 8; i++) await turn();
}

export async function play(script: readonly Step[]): Promise<void> {
  logWith({});
  const [timers, open] = [active("Timeout"), sockets()];
  const speaking = new Speaking();
  const server = await serve(speaking.routes, { port: 0, host: "127.0.0.1", signals: false, drainMs });
  const played = new Played(server, speaking);
  try {
    for (const step of script) await played.take(step);
    await played.finish();
  } finally {
    speaking.letIn.open();
    speaking.over.open();
    await played.leave();
    await server.stop();
  }
  played.check();
  // By turns, and not by the clock: what waits by the clock has timers of its own.
  for (let i = 0; i < 5000 && (active("Timeout") > timers || sockets() > open); i++) await turn();
  // Fewer where one of the test runner's own is over.
  const left = [active("Timeout") - timers, sockets() - open];
  ok(Math.max(...left) <= 0, `timers and sockets that are left: ${left.join(" and ")}`);
}

class Played {
  readonly #server: Server;
  readonly #speaking: Speaking;
  readonly #clients: (Client | undefined)[] = [];
  readonly #all: Client[] = [];
  #stopped: Promise<number> | undefined = undefined;
  /** The clients whose every word is to come back: the server was not stopped before. */
  #orderly: readonly Client[] = [];
  /** Who spoke on a connection when the server was stopped. */
  #open: readonly Spoken[] = [];
  #begunBefore = 0;

  constructor(server: Server, speaking: Speaking) {
    this.#server = server;
    this.#speaking = speaking;
  }

  async take(step: Step): Promise<void> {
    if (step.does === "turn") return turns();
    if (step.does === "let in") return this.#speaking.letIn.open();
    if (step.does === "stop") return this.#stop();
    if (step.does === "open") {
      const before = this.#clients[step.on];
      if (this.#stopped !== undefined || (before !== undefined && before.closing === undefined)) return;
      const client = new Client(this.#server.port, step, `k${this.#all.length}`);
      this.#clients[step.on] = client;
      this.#all.push(client);
      return;
    }
    this.#clients[step.on]?.take(step);
  }

  /** What is still to come has come, and another client is answered. */
  async finish(): Promise<void> {
    this.#speaking.letIn.open();
    this.#speaking.over.open();
    if (this.#stopped === undefined) {
      this.#orderly = this.#all.filter((client) => client.isOrderly());
      for (const client of this.#orderly) await client.ended();
      const other = await RawClient.to(this.#server.port);
      equal((await other.ask("GET /ok").answer()).body, "ok");
      leaveAll();
    }
    await turns();
  }

  async leave(): Promise<void> {
    for (const client of this.#all) await client.leave();
    this.#stop();
    equal(await this.#stopped, 0, "how many the stop has cut");
  }

  check(): void {
    const told = this.#speaking.all;
    for (const client of this.#all) this.#checkAnswer(client);
    // Each was told of the end once, of a stop once where there was one, and the log of each once.
    for (const [i, spoken] of told.entries()) {
      ok(spoken.isOver, `${spoken.key} is over`);
      const { open } = this.#all.find(({ key }) => key === spoken.key) as Client;
      const hears = open.handler === "echo" || (open.kind === "socket" && /deaf|floods/.test(open.handler));
      equal(spoken.ends.length, hears ? 1 : 0, `${spoken.key} was told ${spoken.ends.join()}`);
      const isStopped = this.#open.includes(spoken) || (this.#stopped !== undefined && i >= this.#begunBefore);
      equal(spoken.stops, open.kind === "taken" && isStopped ? 1 : 0, `how often ${spoken.key} was told of the stop`);
      const lines = messages("info").filter(
        (line) => String(line).includes(`/${spoken.key}/`) && / ended: /.test(String(line)),
      );
      equal(lines.length, 1, `lines of the end of ${spoken.key}`);
    }
    const raised = told.filter(({ key }) =>
      this.#all.some((client) => client.key === key && client.open.handler === "raises"),
    );
    const errors = messages("error").filter((line) => !/\/raises\/.*: its handler raised$/.test(String(line)));
    deepEqual([errors, messages("error").length], [[], raised.length]);
  }

  #stop(): void {
    if (this.#stopped !== undefined) return;
    this.#open = this.#speaking.all.filter(({ isOver }) => !isOver);
    this.#begunBefore = this.#speaking.all.length;
    this.#stopped = this.#server.stop();
  }

  #checkAnswer(client: Client): void {
    const { answer, open, said, pinged, key } = client;
    const isWhole = this.#orderly.includes(client);
    if (answer === undefined) {
      ok(!isWhole, `${key} is answered`);
      return;
    }
    equal(answer.head.split("\r\n", 1)[0], "HTTP/1.1 101 Switching Protocols");
    if (open.handler !== "echo") return;
    if (open.kind === "taken") {
      const [came, all] = [answer.rest.toString("latin1"), said.join("")];
      equal(came, isWhole ? all : all.slice(0, came.length));
      return;
    }
    const heard = heardOf(answer.rest);
    deepEqual(heard.texts, isWhole ? said : said.slice(0, heard.texts.length));
    deepEqual(heard.pongs, isWhole ? pinged : pinged.slice(0, heard.pongs.length));
    if (isWhole) equal(heard.closed, 1000);
    else if (heard.closed !== undefined)
      ok([1000, 1001, 1002, 1003, 1009].includes(heard.closed), `closed with ${heard.closed}`);
  }
}

/** Plays a script to a server of its own, and says what must hold whatever the script was. */
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert";
import { serve } from "usher-http/node";
import type { Server } from "usher-http/node";
import { logWith, messages } from "../logs.ts";
import { active, sockets, turn } from "../memory.ts";
import { RawClient, leaveAll } from "../raw-client.ts";
import { Client, heardOf } from "./client.ts";
import { Speaking, drainMs } from "./routes.ts";
import type { Spoken } from "./routes.ts";
import type { Step } from "./script.ts";

/** A server of `Speaking`'s routes, in this process or in another. */
export interface World {
  readonly port: number;
  /** Whether its clients send nothing, and stay, until they are answered: runtimes differ in what they do with others. */
  readonly hasPatientClients: boolean;
  /** Whether the runtime answers a Close before the handler has read what was sent before it. */
  readonly closesFirst: boolean;
  /** Lets the late requests in. */
  letIn(): void | Promise<void>;
  /** The script is over. */
  endAll(): void | Promise<void>;
  spoken(): readonly Spoken[] | Promise<readonly Spoken[]>;
  /** Resolves with the number of requests that were cut. */
  stop(): Promise<number>;
  messages(level: "info" | "error"): readonly unknown[] | Promise<readonly unknown[]>;
}

class NodeWorld implements World {
  readonly hasPatientClients = false;
  readonly closesFirst = false;
  readonly port: number;
  readonly #server: Server;
  readonly #speaking: Speaking;

  constructor(server: Server, speaking: Speaking) {
    this.port = server.port;
    this.#server = server;
    this.#speaking = speaking;
  }
  letIn(): void {
    this.#speaking.letIn.open();
  }
  endAll(): void {
    this.#speaking.over.open();
  }
  spoken(): readonly Spoken[] {
    return this.#speaking.all;
  }
  stop(): Promise<number> {
    return this.#server.stop();
  }
  messages(level: "info" | "error"): readonly unknown[] {
    return messages(level);
  }
}

async function turns(): Promise<void> {
  for (let i = 0; i < 8; i++) await turn();
}

/** Plays to `usher-http/node` in this process, which must have its timers and sockets back. */
export async function play(script: readonly Step[]): Promise<void> {
  logWith({});
  const [timers, open] = [active("Timeout"), sockets()];
  const speaking = new Speaking();
  const server = await serve(speaking.routes, { port: 0, host: "127.0.0.1", signals: false, drainMs });
  await playTo(new NodeWorld(server, speaking), script);
  // By turns, and not by the clock: what waits by the clock has timers of its own.
  for (let i = 0; i < 5000 && (active("Timeout") > timers || sockets() > open); i++) await turn();
  // Fewer where one of the test runner's own is over.
  const left = [active("Timeout") - timers, sockets() - open];
  ok(Math.max(...left) <= 0, `timers and sockets that are left: ${left.join(" and ")}`);
}

/** Plays to any server, and stops it. */
export async function playTo(world: World, script: readonly Step[]): Promise<void> {
  const played = new Played(world);
  try {
    for (const step of script) await played.take(step);
    await played.finish();
  } finally {
    await world.letIn();
    await world.endAll();
    await played.leave();
  }
  await played.check();
}

class Played {
  readonly #world: World;
  readonly #clients: (Client | undefined)[] = [];
  readonly #all: Client[] = [];
  #stopped: Promise<number> | undefined = undefined;
  /** The clients whose every message is expected back: the server was not stopped before. */
  #orderly: readonly Client[] = [];
  /** Who spoke on a connection when the server was stopped. */
  #open: readonly Spoken[] = [];
  #begunBefore = 0;

  constructor(world: World) {
    this.#world = world;
  }

  async take(step: Step): Promise<void> {
    if (step.does === "turn") return turns();
    if (step.does === "let in") return this.#world.letIn();
    if (step.does === "stop") return this.#stop();
    if (step.does === "open") {
      const before = this.#clients[step.on];
      if (this.#stopped !== undefined || (before !== undefined && before.closing === undefined)) return;
      const { port, hasPatientClients } = this.#world;
      const client = new Client(port, step, `k${this.#all.length}`, hasPatientClients);
      this.#clients[step.on] = client;
      this.#all.push(client);
      return;
    }
    this.#clients[step.on]?.take(step);
  }

  /** Everything that is pending has arrived, and another client is answered. */
  async finish(): Promise<void> {
    await this.#world.letIn();
    await this.#world.endAll();
    if (this.#stopped === undefined) {
      this.#orderly = this.#all.filter((client) => client.isOrderly());
      for (const client of this.#orderly) await client.ended();
      const other = await RawClient.to(this.#world.port);
      equal((await other.ask("GET /ok").answer()).body, "ok");
      leaveAll();
    }
    await turns();
  }

  async leave(): Promise<void> {
    for (const client of this.#all) await client.answered();
    for (const client of this.#all) await client.leave();
    await this.#stop();
    equal(await this.#stopped, 0, "how many the stop has cut");
  }

  async check(): Promise<void> {
    const told = await this.#world.spoken();
    const infos = await this.#world.messages("info");
    const raises = await this.#world.messages("error");
    for (const client of this.#all) this.#checkAnswer(client);
    // Each was notified of the end once, of a stop once if there was one, and the log of each once.
    for (const [i, spoken] of told.entries()) {
      ok(spoken.isOver, `${spoken.key} is over`);
      const { open } = this.#all.find(({ key }) => key === spoken.key) as Client;
      const hears = open.handler === "echo" || (open.kind === "socket" && /deaf|floods/.test(open.handler));
      equal(spoken.ends.length, hears ? 1 : 0, `${spoken.key} was told ${spoken.ends.join()}`);
      const isStopped = this.#open.includes(spoken) || (this.#stopped !== undefined && i >= this.#begunBefore);
      equal(spoken.stops, open.kind === "taken" && isStopped ? 1 : 0, `how often ${spoken.key} was told of the stop`);
      const lines = infos.filter((line) => String(line).includes(`/${spoken.key}/`) && / ended: /.test(String(line)));
      equal(lines.length, 1, `lines of the end of ${spoken.key}`);
    }
    const raised = told.filter(({ key }) =>
      this.#all.some((client) => client.key === key && client.open.handler === "raises"),
    );
    const errors = raises.filter((line) => !/\/raises\/.*: its handler raised$/.test(String(line)));
    deepEqual([errors, raises.length], [[], raised.length]);
  }

  async #stop(): Promise<void> {
    if (this.#stopped !== undefined) return;
    const spoken = await this.#world.spoken();
    this.#open = spoken.filter(({ isOver }) => !isOver);
    this.#begunBefore = spoken.length;
    this.#stopped = this.#world.stop();
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
    const hasAll = isWhole && !this.#world.closesFirst;
    deepEqual(heard.texts, hasAll ? said : said.slice(0, heard.texts.length));
    deepEqual(heard.pongs, hasAll ? pinged : pinged.slice(0, heard.pongs.length));
    if (isWhole) equal(heard.closed, 1000);
    else if (heard.closed !== undefined)
      ok([1000, 1001, 1002, 1003, 1009].includes(heard.closed), `closed with ${heard.closed}`);
  }
}

/**
 * Servers, connections and clients are killed under load. No request is done twice or answered in two ways. It
 * takes 4 s for each store; `USHER_CHAOS_MS=60000` makes it run longer, and `USHER_FUZZ_SEED` sets another seed.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { IdempotencyTable } from "usher-http/postgres";
import { freePort } from "../../examples/orders/postgres-server.ts";
import { builtProgram } from "../support/built-program.ts";
import "../support/logs.ts";
import { observer, startPostgres } from "../support/postgres/database.ts";
import { RedisServer, ownRedis } from "../support/redis.ts";
import { runs } from "../support/runs.ts";

const chaosMs = Number(process.env["USHER_CHAOS_MS"] ?? 4000);
const postgres = await startPostgres();
const sql = observer(postgres);
await sql.unsafe(IdempotencyTable.schema({ table: "answers" }));
await sql.unsafe("create table effect (key text, value text)");

/** A sequence of numbers from 0 to 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

/** A server that is killed, and started again on its port. */
class Victim {
  readonly url: string;
  readonly #start: () => ChildProcess;
  #running: ChildProcess | undefined = undefined;

  private constructor(port: number, start: () => ChildProcess) {
    this.url = `http://127.0.0.1:${port}/`;
    this.#start = start;
  }

  static async serving(store: string): Promise<Victim> {
    const file = await builtProgram(new URL("../support/idempotency-chaos.ts", import.meta.url).pathname);
    const port = await freePort();
    const given = [file, postgres.url(), String(port), store];
    const victim = new Victim(port, () => spawn(process.execPath, given, { stdio: ["ignore", "pipe", "inherit"] }));
    onTestFinished(() => victim.kill());
    await victim.start();
    return victim;
  }

  async start(): Promise<void> {
    this.#running = this.#start();
    await once(this.#running.stdout as NonNullable<ChildProcess["stdout"]>, "data");
  }

  async kill(): Promise<void> {
    const running = this.#running;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    running.kill("SIGKILL");
    await once(running, "exit");
  }
}

/** The answers to each key that are its outcome: not "in use", "lost", or a failure of the server. */
class Answers {
  readonly byKey = new Map<string, Set<string>>();
  /** How often each kind of answer was received. */
  readonly kinds = new Map<string, number>();

  note(key: string, status: number, body: string, isReplay: boolean): boolean {
    const code = /^\{"error":"(\w+)"/.exec(body)?.[1] ?? "done";
    const kind = `${status} ${code}${isReplay ? " again" : ""}`;
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1);
    if (code === "done" || code === "taken") this.byKey.get(key)?.add(`${status} ${body}`);
    return code === "done" || code === "taken" || code === "idempotency_answer_lost";
  }
}

/** Sends a request with a key. Resolves with whether its outcome is known. */
async function ask(url: string, key: string, answers: Answers, ms: number | undefined): Promise<boolean> {
  const signal = AbortSignal.timeout(Math.ceil(ms ?? 10_000));
  try {
    const response = await fetch(url, { method: "POST", headers: { "idempotency-key": `"${key}"` }, signal });
    const isReplay = response.headers.has("idempotent-replayed");
    return answers.note(key, response.status, await response.text(), isReplay);
  } catch {
    // The server was killed, or the client left.
    return false;
  }
}

async function load(url: string, who: number, answers: Answers, random: () => number, isOver: () => boolean) {
  for (let turn = 0; !isOver(); turn++) {
    const key = `${who}-${turn}${random() < 0.2 ? "r" : ""}`;
    answers.byKey.set(key, new Set());
    // Two at once, one of which disconnects early; then one more, whose key has an answer by now.
    const leaves = random() < 0.3 ? 1 + random() * 10 : undefined;
    const both = await Promise.all([ask(url, key, answers, leaves), ask(url, key, answers, undefined)]);
    if (!both.some(Boolean)) await delay(20);
    await ask(url, key, answers, undefined);
  }
}

async function shoot(victim: Victim, redis: RedisServer | undefined, random: () => number, until: number) {
  for (let shot = 1; Date.now() < until; shot++) {
    await delay(100 + random() * 200);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'chaos' order by random() limit 2`;
    if (shot % 4 === 0) await victim.kill().then(() => victim.start());
    if (redis !== undefined && shot % 6 === 0) await redis.stop().then(() => redis.start());
  }
}

const stores = [
  ["transaction", true],
  ["table", true],
  ["redis", !ownRedis.isSkipped],
] as const;

it.each(stores.filter(([, runs]) => runs))("no request is done or answered twice: %s", async (name) => {
  const random = seeded(runs(1).seed);
  await sql`truncate answers, effect`;
  const redis = name === "redis" ? await RedisServer.start({ isDurable: true }) : undefined;
  const victim = await Victim.serving(redis?.url ?? name);
  const answers = new Answers();
  const until = Date.now() + chaosMs;
  let isOver = false;
  const clients = Array.from({ length: 8 }, (_, who) => load(victim.url, who, answers, random, () => isOver));
  await shoot(victim, redis, random, until);
  isOver = true;
  await Promise.all(clients);
  // At the end every key has an outcome, or is known to be lost.
  for (const key of answers.byKey.keys()) {
    const end = Date.now() + 60_000;
    while (!(await ask(victim.url, key, answers, undefined)) && Date.now() < end) await delay(100);
  }
  const effects = new Map<string, string[]>();
  for (const { key, value } of await sql`select key, value from effect`) {
    effects.set(key as string, [...(effects.get(key as string) ?? []), value as string]);
  }
  const wrong = [...answers.byKey].filter(([key, outcomes]) => {
    const done = effects.get(key) ?? [];
    if (outcomes.size > 1 || done.length > 1) return true;
    const [outcome] = outcomes;
    // In the transaction no outcome is lost, and the work of a refusal is rolled back.
    if (name === "transaction" && outcome === undefined) return true;
    if (name === "transaction" && key.endsWith("r")) return done.length > 0;
    return outcome !== undefined && !done.some((value) => outcome.includes(value));
  });
  expect(wrong).toEqual([]);
  expect(answers.kinds.get("200 done again") ?? 0).toBeGreaterThan(0);
  if (process.env["USHER_CHAOS_MS"] !== undefined)
    console.log(name, answers.byKey.size, Object.fromEntries(answers.kinds));
});

/** `query` and `batches` on Node, Bun, Deno and Workers, each on a database of its own. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { start } from "../workers/running.ts";
import { bundledWorker } from "./bundled-worker.ts";
import { commands } from "./commands.ts";
import { acts, shown } from "./query-acts.ts";

const server = await startPostgres();
const watch = observer(server);

/** A database with what the acts use. */
async function database(name: string): Promise<string> {
  await watch.unsafe(`create database ${name}`);
  const sql = observer(server, name);
  await sql`create table person (id int8 primary key, name text not null constraint person_name unique)`;
  await sql`create type mood as enum ('fine', 'bad')`;
  await sql`create domain short as int4 check (value < 100)`;
  return server.url(name);
}

type Play = (name: string) => Promise<string | undefined>;

function byProgram(command: readonly string[], database: Promise<string>): Play {
  const [file = "", ...rest] = command;
  const played = database.then(async (url) => {
    const program = join(import.meta.dirname, "query-program.ts");
    const { stdout, stderr } = await promisify(execFile)(file, [...rest, program, url]);
    expect(stderr).toBe("");
    return JSON.parse(stdout) as { readonly [name: string]: string };
  });
  return async (name) => (await played)[name];
}

function byWorker(database: Promise<string>): Play {
  const running = database.then(async (url) =>
    start(await bundledWorker("query-worker.ts"), { flags: ["nodejs_compat"], bindings: { DATABASE: url } }),
  );
  return async (name) => {
    const client = await (await running).client();
    return (await client.ask(`GET /?act=${encodeURIComponent(name)}`).answer()).body;
  };
}

const players: readonly (readonly [runtime: string, make: (name: string) => Play])[] = [
  ...commands.map(([runtime, command]) => [runtime, (name: string) => byProgram(command(), database(name))] as const),
  ["Workers", (name) => byWorker(database(name))],
];

describe.each(players)("on %s", (runtime, make) => {
  let player: Play | undefined;
  it.each(Object.entries(acts))("%s", { timeout: 120_000 }, async (name, { gives }) => {
    player ??= make(runtime.toLowerCase());
    expect(await player(name)).toBe(shown(gives));
  });
});

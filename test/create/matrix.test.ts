/** The projects that `create-usher` can make, of the packed packages: made, type-checked, tested, started and asked. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";
import { clashOf } from "../../create-usher/src/choices.ts";
import type { Choices, Database, Runtime, Sample } from "../../create-usher/src/choices.ts";
import { observer, startPostgres } from "../support/postgres/database.ts";
import { isWide } from "../support/wide.ts";
import { askAll } from "./asked.ts";
import { imageOf, packProjects, startImage } from "./projects.ts";
import type { Project } from "./projects.ts";

const run = promisify(execFile);

const postgres = await startPostgres();
const sql = observer(postgres);
const projects = packProjects();
afterAll(() => projects.remove());

const runtimes: readonly Runtime[] = ["node", "bun", "deno", "workers"];
const databases: readonly Database[] = ["none", "postgres"];
const samples: readonly Sample[] = ["hello", "api", "live"];
const all = runtimes
  .flatMap((runtime) => databases.map((database) => ({ runtime, database })))
  .flatMap((pair) => samples.map((sample): Choices => ({ ...pair, sample, tests: "url" })));
const onPglite: Choices = { runtime: "node", database: "postgres", sample: "api", tests: "pglite" };
const possible = [...all.filter((choices) => clashOf(choices) === undefined), onPglite];

/**
 * What the usual run leaves to the wide one: 6 s of processor time. It makes all projects for Node, and for each other runtime one
 * with a database and one without, so that each sample is made for two of them or more.
 */
const left = ["my-bun-none-hello", "my-bun-postgres-live", "my-deno-none-live", "my-deno-postgres-api"];

/** A name for a project, and for its databases. */
const nameOf = ({ runtime, database, sample, tests }: Choices): string => {
  return `my-${runtime}-${database}-${sample}${tests === "pglite" ? "-pglite" : ""}`;
};

async function newDatabase(name: string): Promise<string> {
  await sql.unsafe(`create database "${name}"`);
  return postgres.url(name);
}

it("has fifteen projects", () => {
  expect(possible).toHaveLength(15);
  expect(possible.map(nameOf)).toEqual(expect.arrayContaining(left));
});

describe.each(possible.filter((choices) => isWide || !left.includes(nameOf(choices))))(
  "the project of $sample on $runtime, with database $database and tests on $tests",
  (choices) => {
    const name = nameOf(choices);
    let made: Promise<Project> | undefined;
    const project = () => (made ??= projects.make(name, choices));

    it("has the right types, and its tests pass", async () => {
      const { script, manifest, folder, read } = await project();
      expect(manifest.name).toBe(name);
      writeFileSync(join(folder, "test/agents-route.ts"), routeIn(read("AGENTS.md")));
      const hasServer = choices.database === "postgres" && choices.tests === "url";
      const env = !hasServer ? {} : { TEST_DATABASE_URL: await newDatabase(`${name}-test`) };
      const [, tested] = await Promise.all([script("check"), script("test", env)]);
      expect(tested).not.toMatch(/skipped [1-9]|[1-9] (?:skip|ignored)|# SKIP/);
    });

    it.skipIf(choices.runtime === "workers")("starts as in its image, answers, and stops on SIGTERM", async () => {
      const { read, folder, ...rest } = await project();
      const { healthCheck, user, env } = imageOf(read("Dockerfile"));
      const [program = "", ...args] = healthCheck;
      const check = (port: string) => run(program, args, { env: { ...process.env, ...rest.env, PORT: port } });
      expect([user, env]).toEqual([choices.runtime, { NODE_ENV: "production", HOST: "0.0.0.0", PORT: "8080" }]);
      const database = choices.database === "none" ? {} : { DATABASE_URL: await newDatabase(name) };
      const server = await startImage({ read, folder, ...rest }, database);
      try {
        const { port } = new URL(server.url);
        await askAll((target, init) => fetch(`http://localhost:${port}${target}`, init), choices.sample);
        await check(port);
      } finally {
        expect(await server.stop()).toBe(0);
      }
      await expect(check(new URL(server.url).port)).rejects.toMatchObject({ code: 1 });
      // On a slow machine the pool says that a connection was held for long.
      const faults = /"level":"(?:warn|error)"(?!.*a connection was held for)/;
      expect(server.lines.filter((line) => faults.test(line))).toEqual([]);
    });

    it.runIf(choices.runtime === "workers")("answers as a Worker", async () => {
      const { folder, read } = await project();
      const settings = workerSettings(read("wrangler.jsonc"));
      expect([settings.name, settings.hyperdrive?.length ?? 0]).toEqual([name, choices.database === "none" ? 0 : 1]);
      const url = choices.database === "none" ? undefined : await newDatabase(name);
      if (url !== undefined) {
        const migrate = join(folder, "node_modules/usher-http/dist/cli.js");
        const env = { ...process.env, DATABASE_URL: url };
        await run(process.execPath, [migrate, "migrate", "migrations"], { cwd: folder, env });
      }
      const worker = await startWorker(join(folder, settings.main), settings, url);
      try {
        await askAll((target, init) => worker.dispatchFetch(`http://h${target}`, init), choices.sample);
      } finally {
        await worker.dispose();
      }
    });
  },
);

/** The route that AGENTS.md shows, with its imports. */
function routeIn(agents: string): string {
  const [, code = ""] = /```ts\n(.*?)```/s.exec(agents) ?? [];
  return `import { Codec, Path, Query, Refusal, Returns, json, param, post, refuse } from "usher-http";
import * as v from "valibot";
${code}
export const routes = [renameNote];
`;
}

interface WorkerSettings {
  readonly name: string;
  readonly main: string;
  readonly compatibility_date: string;
  readonly compatibility_flags: readonly string[];
  readonly hyperdrive?: readonly { readonly binding: string }[];
}

/** JSON with comments and trailing commas. */
function workerSettings(text: string): WorkerSettings {
  const plain = text.replace(/^\s*\/\/.*$/gm, "").replace(/,(\s*[}\]])/g, "$1");
  return JSON.parse(plain) as WorkerSettings;
}

/** Of Miniflare, what is used of it: its own types bring those of Workers with them, which clash with Node's. */
interface Miniflare {
  dispatchFetch(url: string, init?: RequestInit): Promise<Response>;
  dispose(): Promise<void>;
}

/** As `wrangler dev` bundles and starts it. */
async function startWorker(main: string, settings: WorkerSettings, url: string | undefined): Promise<Miniflare> {
  const { outputFiles } = await build({
    entryPoints: [main],
    tsconfigRaw: {},
    bundle: true,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*", "cloudflare:*"],
    write: false,
  });
  const module: string = "miniflare";
  const { Miniflare } = (await import(module)) as { readonly Miniflare: new (options: object) => Miniflare };
  return new Miniflare({
    modules: [{ type: "ESModule", path: "worker.js", contents: outputFiles[0]?.text ?? "" }],
    // Its lines would be among those of the tests.
    handleRuntimeStdio: (out: Readable, error: Readable) => void [out.resume(), error.resume()],
    compatibilityDate: settings.compatibility_date,
    compatibilityFlags: settings.compatibility_flags,
    ...(url === undefined ? {} : { hyperdrives: { HYPERDRIVE: url.replace("postgres@", "postgres:any@") } }),
  });
}

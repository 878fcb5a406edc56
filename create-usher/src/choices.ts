/** What a project can be made of, and which of it goes together. */

export const runtimes = {
  node: "Node.js",
  bun: "Bun",
  deno: "Deno",
  workers: "Cloudflare Workers",
};
export const databases = { none: "none", postgres: "PostgreSQL" };
export const samples = {
  hello: "hello: two routes",
  api: "api: orders kept in PostgreSQL",
  live: "live: a page that shows messages as they are sent",
};

/** What the tests of the SQL run on. */
export const tests = {
  url: "a PostgreSQL server, by TEST_DATABASE_URL",
  pglite: "PGlite, in the process of the tests",
};

export type Runtime = keyof typeof runtimes;
export type Database = keyof typeof databases;
export type Sample = keyof typeof samples;
export type Tests = keyof typeof tests;

/** The choices of one project. */
export interface Choices {
  readonly runtime: Runtime;
  readonly database: Database;
  readonly sample: Sample;
  readonly tests: Tests;
}

/** The choices that were made so far. */
export type SomeChoices = { readonly [Choice in keyof Choices]?: Choices[Choice] | undefined };

const rules: readonly (readonly [clash: SomeChoices, reason: string])[] = [
  [
    { sample: "hello", database: "postgres" },
    "The sample `hello` keeps nothing: choose `api` or `live` with PostgreSQL.",
  ],
  [
    { sample: "api", database: "none" },
    "The sample `api` keeps its orders in PostgreSQL: choose `--database postgres`.",
  ],
  [
    { sample: "live", runtime: "workers" },
    "The sample `live` needs a process that all clients share, which Workers do not have: choose `hello` or `api`.",
  ],
  ...([{ database: "none" }, { sample: "hello" }, { sample: "live" }] as const).map((other) => {
    return [
      { ...other, tests: "pglite" },
      "PGlite is for the tests of the sample `api`: choose `--sample api`.",
    ] as const;
  }),
  ...(["bun", "deno", "workers"] as const).map((runtime) => {
    return [{ runtime, tests: "pglite" }, "PGlite is for tests on Node: choose `--runtime node`."] as const;
  }),
];

/** Why no project can have these choices; undefined if one can. */
export function clashOf(choices: SomeChoices): string | undefined {
  const found = rules.find(([clash]) => {
    return Object.entries(clash).every(([name, value]) => choices[name as keyof Choices] === value);
  });
  // Two choices that leave no third: PostgreSQL on Workers leaves `api`, so each pair leaves at least one.
  return found?.[1];
}

/** The values that a choice can still have. */
export function optionsOf<Name extends keyof Choices>(name: Name, chosen: SomeChoices): readonly Choices[Name][] {
  const all = Object.keys({ runtime: runtimes, database: databases, sample: samples, tests }[name]) as Choices[Name][];
  return all.filter((value) => clashOf({ ...chosen, [name]: value }) === undefined);
}

/** Sets what was not chosen: each the first value that goes with the others. */
export function completed(chosen: SomeChoices, runtime: Runtime): Choices {
  const first = { ...chosen, runtime: chosen.runtime ?? (chosen.tests === "pglite" ? "node" : runtime) };
  const sample = chosen.sample ?? optionsOf("sample", first)[0] ?? "hello";
  const database = chosen.database ?? optionsOf("database", { ...first, sample })[0] ?? "none";
  return { runtime: first.runtime, database, sample, tests: chosen.tests ?? "url" };
}

/** `usher-http/node` on the `node:http` of Bun and of Deno: the same listener, unchanged, with a list of the differences. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SpawnOptions } from "../../support/spawned/options.ts";
import { describeBearing } from "../../support/spawned/bearing.ts";
import { runtimes } from "../../support/runtimes.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";
import type { Command, Start } from "../../support/spawned/server.ts";
import { differs, either } from "./other-runtimes.ts";
import { cases } from "./other-runtime-cases.ts";

const deno = ["run", "--no-lock", "--node-modules-dir=manual", "--cached-only", "--no-prompt"];
const rights = ["--allow-net", "--allow-read", "--allow-write", "--allow-env", "--allow-sys"];
const commands: { readonly [runtime: string]: () => Command } = {
  bun: () => [runtimes.bun()],
  deno: () => [runtimes.deno(), ...deno, ...rights],
};

describe.each(Object.entries(commands))("on %s", (runtime, command) => {
  const listed = differs[runtime] ?? {};
  const start: Start = (options: SpawnOptions = {}) =>
    SpawnedServer.start(command(), join(import.meta.dirname, "server.ts"), options);

  const open = either[runtime] ?? {};
  const others = Object.entries(cases).filter(([what]) => open[what] === undefined && listed[what] === undefined);

  it.each(others)("%s", async (_what, run) => run(start));
  it.each(Object.entries(listed).map(([what, [why, run]]) => [what, why, run] as const))(
    "but not: %s (%s)",
    async (_what, _why, run) => run(start),
  );

  describeBearing(start);

  it("every listed difference is the name of a case", () => {
    const named = [...Object.keys(listed), ...Object.keys(open)];
    expect(named.filter((what) => !Object.hasOwn(cases, what))).toEqual([]);
  });
});

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { digits } from "../../harness/figures.mjs";
import { section } from "../../harness/series.mjs";
import { grown, growthOf } from "../grow.mjs";
import { programs } from "./programs.mjs";

const names = Object.fromEntries(Object.entries(programs).map(([who, { name }]) => [who, name]));
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
/** A check that takes longer has no figure. */
const maxMs = 120_000;

/** What the compiler does for many typed routes and a typed client. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const sizes = quick ? [10, 50] : [10, 100, 500, 1000];
  // In this folder, from where the compiler finds the packages.
  const folder = mkdtempSync(fileURLToPath(new URL("checked-", import.meta.url)));
  const failures = new Map();
  try {
    const play = async (who, count) => {
      // What fails once fails again, and takes longest.
      if (failures.has(`${who} ${count}`)) return {};
      const { failure, ...figures } = compiled(folder, programs[who].files(count));
      if (failure !== undefined) failures.set(`${who} ${count}`, `${names[who]}, ${count} routes: ${failure}`);
      return figures;
    };
    const figures = await grown({ sizes, whos: Object.keys(programs), rounds, play });
    const about = /** @type {const} */ ({ better: "less", x: "routes" });
    const parts = [
      growthOf(
        { ...about, title: "Instantiations of types", unit: "instantiations" },
        names,
        figures,
        "instantiations",
      ),
      growthOf({ ...about, title: "Time of the compiler", unit: "s" }, names, figures, "seconds"),
      growthOf({ ...about, title: "Memory of the compiler", unit: "MB" }, names, figures, "memory"),
    ];
    return section(
      [
        "## Growth of types with routes",
        `Routes with a path parameter, a query and a validated body, and a typed client that calls each of them, a hundred routes in a file, checked by TypeScript ${versionOf()} on ` +
          `one thread; rounds: ${rounds}, medians. A program that does not compile, or takes over ` +
          `${digits(maxMs / 1000)} s, has no figure.`,
        ...parts.map(({ text }) => text),
        ...failures.values(),
      ],
      parts.map(({ series }) => series),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function compiled(folder, files) {
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    types: ["node"],
    skipLibCheck: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const startedAt = performance.now();
  const args = [tsc, "-p", folder, "--extendedDiagnostics", "--singleThreaded"];
  const { stdout, status } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    timeout: maxMs,
    maxBuffer: 2 ** 26,
  });
  const seconds = (performance.now() - startedAt) / 1000;
  if (status === null) return { failure: "takes too long" };
  const figure = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(stdout)?.[1]);
  if (status !== 0) return { failure: /error TS.*/.exec(stdout)?.[0].slice(0, 200) ?? `ended with ${status}` };
  return { seconds, instantiations: figure("Instantiations"), memory: figure("Memory used") / 1000 };
}

function versionOf() {
  return createRequire(import.meta.url)("typescript/package.json").version;
}

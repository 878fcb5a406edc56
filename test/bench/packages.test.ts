/** The packages of the benchmarks: the versions in `bench/package.json`, the message without them, and the link to this package. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { root } from "../package/packed.ts";

const { linkOwn, notInstalled } = (await import(join(root, "bench/harness/packages.mjs"))) as {
  readonly linkOwn: (bench: string) => void;
  readonly notInstalled: (bench: string) => string | undefined;
};

const folder = mkdtempSync(join(tmpdir(), "usher-bench-packages-"));
afterAll(() => rmSync(folder, { recursive: true }));

const toDo = "The benchmarks compare with packages that are not installed: run `npm ci --prefix bench`.";

/** A folder of benchmarks with two pinned peers: some of them are installed. */
function bench(name: string, installed: Readonly<Record<string, string>>): string {
  const made = join(folder, name, "bench");
  mkdirSync(made, { recursive: true });
  writeFileSync(join(made, "package.json"), JSON.stringify({ dependencies: { "@a/one": "1.0.0", two: "2.0.0" } }));
  for (const [of, version] of Object.entries(installed)) {
    mkdirSync(join(made, "node_modules", of), { recursive: true });
    writeFileSync(join(made, "node_modules", of, "package.json"), JSON.stringify({ version }));
  }
  return made;
}

describe("the packages of the benchmarks", () => {
  it("have one exact version each", () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, "bench/package.json"), "utf8")) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    const loose = Object.entries(dependencies).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
    expect(Object.keys(dependencies)).toContain("fastify");
    expect(loose).toEqual([]);
  });

  it.each([
    { about: "all are", installed: { "@a/one": "1.0.0", two: "2.0.0" }, said: undefined },
    { about: "none is", installed: {}, said: toDo },
    {
      about: "one is missing",
      installed: { "@a/one": "1.0.0" },
      said: `${toDo} It brings two 2.0.0 (nothing is there).`,
    },
    {
      about: "one has another version",
      installed: { "@a/one": "1.0.0", two: "1.9.0" },
      said: `${toDo} It brings two 2.0.0 (1.9.0 is there).`,
    },
  ])("are looked for: $about", ({ about, installed, said }) => {
    expect(notInstalled(bench(about, installed))).toBe(said);
  });

  it("are checked before anything is built or measured", () => {
    const copy = join(folder, "copied/bench");
    cpSync(join(root, "bench"), copy, { recursive: true, filter: (path) => basename(path) !== "node_modules" });
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(copy, "run.mjs"), "shapes", "--quick"], {
      encoding: "utf8",
    });
    expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: "", stderr: `${toDo}\n` });
  });
});

it("a benchmark finds this package by its name, also after a second link", () => {
  const made = bench("linked", {});
  const of = join(made, "..");
  writeFileSync(
    join(of, "package.json"),
    JSON.stringify({ name: "usher-http", exports: { "./node": "./dist/node.mjs" } }),
  );
  mkdirSync(join(of, "dist"));
  writeFileSync(join(of, "dist/node.mjs"), 'export const found = "the package above";');
  writeFileSync(join(made, "one.mjs"), 'console.log((await import("usher-http/node")).found);');
  linkOwn(made);
  linkOwn(made);
  const { stdout } = spawnSync(process.execPath, [join(made, "one.mjs")], { encoding: "utf8" });
  expect(stdout).toBe("the package above\n");
});

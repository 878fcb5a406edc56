/** What a run makes once, though several of its processes ask for it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";
import { madeOnce, programMadeOnce } from "./run-folder.ts";

let names = 0;
/** A name that no other test uses, and the folder that it will have. */
function fresh(): { readonly name: string; readonly folder: string } {
  const name = `run-folder-test/${process.pid}-${names++}`;
  return { name, folder: join(dirname(dirname(madeOnce("run-folder-test/made", () => {}))), name) };
}

it("a folder is made by its first caller, with what the caller makes", () => {
  const { name, folder } = fresh();
  const make = (into: string) => writeFileSync(join(into, "file"), "mine");
  expect(madeOnce(name, make)).toBe(folder);
  expect(madeOnce(name, () => expect.unreachable())).toBe(folder);
  expect(readFileSync(join(folder, "file"), "utf8")).toBe("mine");
});

it("a folder that another process makes is waited for", async () => {
  const { name, folder } = fresh();
  writeFileSync(`${folder}.claim`, String(process.pid));
  // A thread runs while this one waits.
  const other = new Worker(
    `const { mkdirSync, rmSync } = require("node:fs");
    const [folder] = process.argv.slice(2);
    setTimeout(() => { mkdirSync(folder); rmSync(folder + ".claim"); }, 50);`,
    { eval: true, argv: [folder] },
  );
  onTestFinished(async () => void (await other.terminate()));
  await once(other, "online");
  expect(madeOnce(name, () => expect.unreachable())).toBe(folder);
  expect(existsSync(folder)).toBe(true);
});

it("a folder whose maker was killed is made by the next caller", () => {
  const { name, folder } = fresh();
  // No process has this number: Linux's highest is 2²².
  writeFileSync(`${folder}.claim`, String(2 ** 22 + 1));
  madeOnce(name, (into) => mkdirSync(join(into, "inner")));
  expect(existsSync(join(folder, "inner"))).toBe(true);
  expect(existsSync(`${folder}.claim`)).toBe(false);
});

it("a folder whose maker failed is made by the next caller", () => {
  const { name, folder } = fresh();
  const fail = () => {
    throw new Error("no room");
  };
  expect(() => madeOnce(name, fail)).toThrow("no room");
  expect(madeOnce(name, () => {})).toBe(folder);
});

it("a program that two ask for at once is made once", async () => {
  let made = 0;
  const make = async () => {
    made++;
    await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const { name } = fresh();
  const [one, two] = await Promise.all([programMadeOnce(name, make), programMadeOnce(name, make)]);
  expect([one, made]).toEqual([two, 1]);
});

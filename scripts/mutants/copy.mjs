/** Copies the working tree, with every mutant in its sources and in its `dist`. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { bundlePackage } from "../bundle.mjs";
import { mutantsOf, withMutants } from "./find.mjs";

/** @import { Mutant } from "./find.mjs" */
/** @import { Plugin } from "rolldown" */

const switchFile = "mutant-switch.mjs";

/** The id of no mutant. */
export const none = -1;

/** The working tree's files: tracked and new ones. @param {string} root */
export function filesOf(root) {
  const { stdout } = spawnSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  return stdout.split("\n").filter((file) => file !== "" && !file.startsWith("bench/results/"));
}

/** Every mutant; its id is its index. @param {string} root @param {readonly string[]} files */
export function allMutants(root, files) {
  const sources = files.filter((file) => /^(?:src|adapters)\/.*\.ts$/.test(file));
  return sources.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), "utf8")));
}

/** @param {string} root @param {readonly string[]} files @param {readonly Mutant[]} mutants */
export async function makeCopy(root, files, mutants) {
  const copy = mkdtempSync(join(tmpdir(), "usher-mutants-"));
  for (const file of files) cpSync(join(root, file), join(copy, file), { recursive: true });
  for (const folder of installed(root)) symlinkSync(join(root, folder), join(copy, folder));
  for (const file of new Set(mutants.map(({ file }) => file))) {
    const from = relative(dirname(file), switchFile);
    const wraps = mutants.flatMap((mutant, id) => (mutant.file === file ? [mutant.wrap(id)] : []));
    const text = readFileSync(join(root, file), "utf8");
    writeFileSync(join(copy, file), withMutants(text, wraps, from.startsWith(".") ? from : `./${from}`));
  }
  mkdirSync(join(copy, "dist"));
  putOn(copy, none);
  await bundlePackage(copy, switchApart);
  const tsc = join(dirname(createRequire(join(root, "package.json")).resolve("typescript/package.json")), "bin/tsc");
  // Without checking: a statement that may be left out no longer narrows a type.
  const args = [tsc, "-p", "examples", "--noCheck"];
  const { status } = spawnSync(process.execPath, args, { cwd: copy, stdio: "inherit" });
  if (status !== 0) throw new Error("the examples of the copy do not compile");
  return copy;
}

/** The folders of what is installed: a workspace may have its own. @param {string} root */
function installed(root) {
  const { workspaces } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return [".", ...workspaces].map((of) => join(of, "node_modules")).filter((folder) => existsSync(join(root, folder)));
}

/** Leaves the switch a file of its own in `dist`, whose text `putOn` writes. @type {Plugin} */
const switchApart = {
  name: "switch-apart",
  resolveId: (id) => (basename(id) === switchFile ? { id: `#${switchFile}`, external: true } : undefined),
  outputOptions: (options) => ({ ...options, paths: { [`#${switchFile}`]: `./${switchFile}` } }),
};

/** Activates a mutant in the text of the copy, for a process without an environment. @param {string} copy @param {number} id */
export function putOn(copy, id) {
  const text = readFileSync(new URL("switch.mjs", import.meta.url), "utf8");
  for (const folder of [copy, join(copy, "dist")]) {
    writeFileSync(join(folder, switchFile), text.replace(`const inText = ${none};`, `const inText = ${id};`));
  }
}

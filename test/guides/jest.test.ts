/** The page's section on Jest: its three files pass in the mode for ES modules, and the default mode fails as the page says. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openGuide } from "./project.ts";

const guide = openGuide("testing");
const jest = join(import.meta.dirname, "../../node_modules/jest/bin/jest.js");

/** Writes the files of the section, as they are on the page. */
function project(): string {
  const folder = join(guide.folder, "jest");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const files = ["jest.config.js", "jest-typescript.js", "hello.test.ts"];
  for (const file of files) {
    const [, text = ""] =
      new RegExp(`^\`\`\`[jt]s\\n// ${file.replaceAll(".", "\\.")}\\n([^]*?)^\`\`\`$`, "m").exec(guide.text) ?? [];
    expect(text).not.toBe("");
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

it("Jest runs a test in its mode for ES modules, and refuses one in its default mode", () => {
  const cwd = project();
  const run = (options: string) => {
    const env = { ...process.env, NODE_OPTIONS: options };
    const { status, stderr } = spawnSync(process.execPath, [jest, "--cacheDirectory", join(cwd, "cache")], {
      cwd,
      env,
    });
    return { status, text: stderr.toString() };
  };
  const modules = run("--experimental-vm-modules");
  expect([modules.status, modules.text]).toEqual([0, expect.stringContaining("1 passed")]);
  // Node 24.9 and newer load ES modules by `require`.
  const [major = 0] = process.versions.node.split(".").map(Number);
  if (major >= 24) return;
  const commonJs = run("");
  expect([commonJs.status, commonJs.text]).toEqual([
    1,
    expect.stringMatching(/Must use import to load ES Module|outside a module/),
  ]);
});

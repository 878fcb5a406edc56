/** `usher dev` of a module that imports a file before it exists. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterAll, expect, it, vi } from "vitest";
import { freePort } from "../../examples/orders/postgres-server.ts";
import { eventually } from "../support/eventually.ts";
import { waitMs } from "../support/patience.ts";
import { runtimes } from "../support/runtimes.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "usher-dev-missing-"));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ["Node", runtimes["node-newest"]()],
  ["Bun", runtimes.bun()],
])("starts on %s when the file exists, and again when its syntax is right", async (name, command) => {
  const project = join(folder, name);
  mkdirSync(join(project, "words"), { recursive: true });
  const word = join(project, "words", "word.mjs");
  const source = JSON.stringify(pathToFileURL(join(root, "dist/index.js")).href);
  const module = join(project, "routes.mjs");
  writeFileSync(
    module,
    `import { Path, Returns, get } from ${source};
import { word } from "./words/word.mjs";
export const routes = [get(Path.of("word"), { returns: Returns.text }, () => word)];
`,
  );
  const port = `${await freePort()}`;
  const running = spawn(command, ["dist/cli.js", "dev", module, "--port", port], { cwd: root, stdio: "pipe" });
  let printed = "";
  for (const output of [running.stdout, running.stderr])
    output.on("data", (part: Buffer) => (printed += part.toString()));
  const ended = new Promise((resolve) => running.once("close", resolve));
  /** Saves until it is seen: a watcher may begin a moment after the message. */
  const saves = (text: string, isSeen: () => Promise<boolean> | boolean) =>
    vi.waitUntil(async () => {
      writeFileSync(word, text);
      for (let looks = 0; looks < 40; looks++) {
        if (await isSeen()) return true;
        await setTimeout(50);
      }
      return false;
    }, waitMs());
  const answer = () => fetch(`http://127.0.0.1:${port}/word`).then((response) => response.text(), String);
  try {
    await eventually(() => expect(printed).toContain("waiting for a change"));
    await saves('export const word = "one', () => /SyntaxError|BuildMessage|error: Unterminated/.test(printed));
    await saves('export const word = "two";\n', async () => (await answer()) === "two");
    expect(printed.split("waiting for a change").length).toBeGreaterThan(2);
  } finally {
    running.kill("SIGTERM");
    await ended;
  }
});

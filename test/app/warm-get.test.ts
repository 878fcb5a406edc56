/** The path of a request through the source: how many files a warm GET enters, and how often the folder changes. */
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";

// These may only fall: the goal is 20 files and 15 changes. One file is the table of a request's end, and two own what is read
// and what is written of a connection.
const maxFiles = 35;
// Two of them read `url.scheme` for the line, which collectors of logs need.
const maxChanges = 57;

describe("a warm GET on Node, with its log line", () => {
  it(`enters at most ${maxFiles} files, and changes the folder at most ${maxChanges} times`, async () => {
    const program = join(import.meta.dirname, "trace", "program.ts");
    const { stdout } = await promisify(execFile)(runtimes["node-24"](), ["--no-warnings", program]);
    const files = JSON.parse(stdout) as string[];
    expect(files).toContain("src/app/respond.ts");
    expect(files).toContain("src/app/finish.ts");
    const folders = files.map((file) => dirname(file));
    const changes = folders.filter((folder, i) => i > 0 && folder !== folders[i - 1]).length;
    console.log(`a warm GET: ${files.length} functions, ${new Set(files).size} files, ${changes} changes of folder`);
    expect(new Set(files).size).toBeLessThanOrEqual(maxFiles);
    expect(changes).toBeLessThanOrEqual(maxChanges);
  });
});

/** The curl commands of the orders example give what its README says. */
import { execFile, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPostgres } from "../support/postgres/database.ts";
import { need } from "../support/needs.ts";
import { startExample } from "./start-example.ts";
import type { RunningExample } from "./start-example.ts";

const readme = readFileSync(join(import.meta.dirname, "../../examples/orders/README.md"), "utf8");
const run = promisify(execFile);
const curl = need("curl", spawnSync("curl", ["--version"]).status === 0);

const server = await startPostgres();

/** The table's rows: a command and what it prints. */
const rows = [...readme.matchAll(/^\| `(curl [^`]+)` \| `([^`]+)` \|$/gm)].map(([, command, printed]) => [
  command as string,
  printed as string,
]);
const [, follow, followed] = /```sh\n(curl -sN [^\n]+)\n```\n+```\n([^`]+)\n```/.exec(readme) ?? [];
const [, first, placed] = /```sh\n(curl [^\n]+)\n```\n+```json\n([^\n]+)\n```/.exec(readme) ?? [];

describe("the curl lines of the orders example", () => {
  let example: RunningExample;
  beforeAll(async () => {
    example = await startExample("orders", { DATABASE_URL: server.url() });
  });
  afterAll(() => example.stop());

  async function printedBy(command: string): Promise<string> {
    const { stdout } = await run("sh", ["-c", command.replaceAll("localhost:8080", new URL(example.url).host)]);
    return stdout;
  }

  it("exist", () => {
    expect(rows.length).toBeGreaterThan(9);
    expect([follow, followed]).toEqual([expect.stringContaining("curl"), expect.stringContaining("event: placed")]);
    expect([first, placed]).toEqual([expect.stringContaining("curl"), expect.stringContaining('"id":1')]);
  });

  it.skipIf(curl.isSkipped)(`place an order${curl.why}`, async () => {
    const untimed = (text: string | undefined) => text?.replace(/"placed_at":"[^"]+"/, "");
    expect(untimed(await printedBy(first as string))).toBe(untimed(placed));
  });

  it.skipIf(curl.isSkipped)(`follow what was placed${curl.why}`, async () => {
    const following = spawn("sh", ["-c", `exec ${follow?.replace("localhost:8080", new URL(example.url).host)}`]);
    let printed = "";
    for await (const part of following.stdout) {
      printed += part;
      if (/^data: .*$/m.test(printed)) break;
    }
    following.kill();
    const untimed = (text = "") => text.replace(/"placed_at":"[^"]+"/, "").replace(/^id: \d+$/m, "id");
    expect(untimed(printed.trim())).toBe(untimed(followed));
  });

  it.skipIf(curl.isSkipped).each(rows)(`%s${curl.why}`, async (command, printed) => {
    expect(await printedBy(command)).toBe(printed);
  });
});

/** The command as it is run: what was built, by each runtime that runs it. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const built = "dist/examples/orders/routes.js";
const source = "examples/orders/routes.ts";

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function ran(command: string, args: readonly string[]): Promise<Ended> {
  try {
    return { code: 0, ...(await execute(command, args, { cwd: root })) };
  } catch (thrown) {
    return thrown as Ended;
  }
}

describe("usher", { timeout: 60_000 }, () => {
  it.each([
    { runtime: "Node 20", command: runtimes["node-oldest"](), args: ["dist/cli/main.js"], module: built },
    {
      runtime: "the newest Node, of TypeScript",
      command: runtimes["node-newest"](),
      args: ["dist/cli/main.js"],
      module: source,
    },
    { runtime: "Bun, of TypeScript", command: runtimes.bun(), args: ["dist/cli/main.js"], module: source },
    { runtime: "Deno, of TypeScript", command: runtimes.deno(), args: ["run", "-A", "cli/main.ts"], module: source },
  ])("runs on $runtime", async ({ command, args, module }) => {
    const listed = await ran(command, [...args, "routes", module]);
    expect(listed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^POST +\/orders +.*json:NewOrder +201 json:Order +/m),
    });
    const made = await ran(command, [...args, "openapi", module]);
    expect(JSON.parse(made.stdout).components.schemas.Order.properties.placed_at).toMatchObject({
      format: "date-time",
    });
    const client = await ran(command, [...args, "client", module]);
    expect(client.stdout).toContain('"POST /orders": (');
    expect(await ran(command, [...args, "routes"])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no module is named/),
    });
  });

  it("says what to do where its Node does not run TypeScript", async () => {
    const { code, stderr } = await ran(runtimes["node-oldest"](), ["dist/cli/main.js", "routes", source]);
    const said =
      /^usher routes: examples\/orders\/routes.ts: Node 20\.[\d.]+ does not run TypeScript. Name what was built/;
    expect([code, stderr]).toEqual([1, expect.stringMatching(said)]);
  });
});

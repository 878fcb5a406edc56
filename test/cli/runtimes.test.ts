/** The command as it is run: what was built, by each runtime that runs it. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";
import { rows } from "../support/wide.ts";
import { waitMs } from "../support/patience.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const built = "dist/examples/orders/routes.js";
const source = "examples/orders/routes.ts";

const folder = mkdtempSync(join(tmpdir(), "usher-run-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function ran(command: string, args: readonly string[]): Promise<Ended> {
  try {
    return { code: 0, ...(await execute(command, args, { cwd: root, timeout: waitMs(), maxBuffer: 2 ** 24 })) };
  } catch (thrown) {
    return thrown as Ended;
  }
}

const routesOfIt = 300;
/** What a pipe holds, on Linux. */
const pipe = 2 ** 16;

/** A module with a timer that never ends. The list of its routes is longer than the buffer of a pipe. */
async function moduleThatStays(): Promise<string> {
  const file = join(folder, "stays.mjs");
  const { href } = pathToFileURL(join(root, "dist/index.js"));
  await writeFile(
    file,
    `import { Path, Returns, get } from ${JSON.stringify(href)};
setInterval(() => {}, 1000);
export const routes = Array.from({ length: ${routesOfIt} }, (_, i) => get(Path.of("a".repeat(300) + i), { returns: Returns.text }, () => ""));
`,
  );
  return file;
}

describe("usher: works", () => {
  it.each([
    { runtime: "Node 20", command: runtimes["node-oldest"](), args: ["dist/cli.js"], module: built },
    {
      runtime: "the newest Node, of TypeScript",
      command: runtimes["node-newest"](),
      args: ["dist/cli.js"],
      module: source,
    },
    { runtime: "Bun, of TypeScript", command: runtimes.bun(), args: ["dist/cli.js"], module: source },
    { runtime: "Deno, of TypeScript", command: runtimes.deno(), args: ["run", "-A", "cli/main.ts"], module: source },
  ])("runs on $runtime", async ({ command, args, module }) => {
    const listed = await ran(command, [...args, "routes", module]);
    expect(listed).toMatchObject({
      code: 0,
      // Without a terminal it has 100 columns, and a route that needs more has lines of its own.
      stdout: expect.stringMatching(/^POST \/orders\n {2}reads .*json:NewOrder\n {2}answers 201 json:Order\n/m),
    });
    const made = await ran(command, [...args, "openapi", module]);
    expect(JSON.parse(made.stdout).components.schemas.Order.properties.placed_at).toMatchObject({
      format: "date-time",
    });
    const client = await ran(command, [...args, "client", module]);
    expect(client.stdout).toContain('"POST /orders": RouteCall<');
    expect(await ran(command, [...args, "routes"])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/the module is missing/),
    });
  });
});

describe("usher: its end", () => {
  const node20 = { runtime: "Node 20", command: runtimes["node-oldest"](), args: ["dist/cli.js"] };
  const newest = { runtime: "the newest Node", command: runtimes["node-newest"](), args: ["dist/cli.js"] };
  const bun = { runtime: "Bun", command: runtimes.bun(), args: ["dist/cli.js"] };
  const deno = { runtime: "Deno", command: runtimes.deno(), args: ["run", "-A", "dist/cli.js"] };
  const readers = rows([newest, deno], [node20, bun]);

  it.each(readers)("ends on $runtime, whatever the module leaves running, and with all its output", async (one) => {
    const listed = await ran(one.command, [...one.args, "routes", await moduleThatStays()]);
    expect([listed.code, listed.stderr]).toEqual([0, ""]);
    expect(listed.stdout.match(/^GET /gm)).toHaveLength(routesOfIt);
    expect(listed.stdout.length).toBeGreaterThan(pipe);
    expect(
      await ran(one.command, [...one.args, "openapi", await moduleThatStays(), "--check", "missing.json"]),
    ).toMatchObject({
      code: 1,
    });
  });

  it.each(readers)("is quiet on $runtime when its reader closes the pipe", async ({ command, args }) => {
    const line = [command, ...args, "openapi", await moduleThatStays()].map((word) => `'${word}'`).join(" ");
    const { stdout, stderr } = await ran("sh", ["-c", `${line} | head -n 1`]);
    expect([stdout, stderr]).toEqual(["{\n", ""]);
  });

  it.each(readers)(
    "reports on $runtime the reason why a module cannot be loaded, and the place",
    async ({ command, args }) => {
      const raising = join(folder, "raising.mjs");
      await writeFile(raising, "\nthrow new Error('no store');\n");
      const raised = await ran(command, [...args, "routes", raising]);
      const at = /^usher routes: \S*raising\.mjs cannot be loaded:\nError: no store\n +at .*raising\.mjs:2:\d+\)?\n$/;
      expect([raised.code, raised.stderr]).toEqual([1, expect.stringMatching(at)]);
      const broken = join(folder, "broken.mjs");
      await writeFile(broken, "\nexport const routes = [;\n");
      const { code, stderr } = await ran(command, [...args, "routes", broken]);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/cannot be loaded:\n[^]*broken\.mjs:2/)]);
      expect(stderr).not.toMatch(/node:|\/cli\/\w+\.js/);
    },
  );

  it.each(readers)("prints on $runtime only the result to standard output", async ({ command, args }) => {
    const module = join(folder, "prints.mjs");
    const { href } = pathToFileURL(join(root, "dist/index.js"));
    await writeFile(
      module,
      `import { Path, Returns, get } from ${JSON.stringify(href)};
console.log("loaded");
const say = () => { process.stdout.write("asked\\n"); return "Hello."; };
export const routes = [get(Path.of("hello"), { returns: Returns.text }, say)];
`,
    );
    const made = await ran(command, [...args, "openapi", module]);
    expect([Object.keys(JSON.parse(made.stdout).paths), made.stderr]).toEqual([["/hello"], "loaded\n"]);
    const called = await ran(command, [...args, "call", module, "GET", "/hello"]);
    expect([called.stdout, called.stderr]).toEqual(["Hello.", "loaded\nasked\n200 OK\n"]);
  });

  it.each([node20, newest])("reports on $runtime that a module never finishes loading", async ({ command, args }) => {
    const waiting = join(folder, "waiting.mjs");
    await writeFile(waiting, "await new Promise(() => {});\nexport const routes = [];\n");
    const { code, stderr } = await ran(command, [...args, "routes", waiting]);
    expect([code, stderr]).toEqual([
      1,
      "usher: the module never finishes loading: a promise that it awaits never settles\n",
    ]);
  });

  it("reports what to do when its Node does not run TypeScript", async () => {
    const { code, stderr } = await ran(runtimes["node-oldest"](), ["dist/cli.js", "routes", source]);
    const said =
      /^usher routes: examples\/orders\/routes.ts: Node 20\.[\d.]+ does not run TypeScript. Give the compiled file/;
    expect([code, stderr]).toEqual([1, expect.stringMatching(said)]);
  });

  it("reports the same of a program, and runs it where a loader is given", async () => {
    const node = runtimes["node-oldest"]();
    const program = join(folder, "program.ts");
    await writeFile(program, "const served: string = 'never';\n");
    const { code, stderr } = await ran(node, ["dist/cli.js", "dev", "--program", program]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^usher dev: .*program\.ts: Node 20\.[\d.]+ does not run TypeScript\. .*--import tsx.*22\.18/,
      ),
    ]);
    // Any loader counts. This one reads nothing, so that the program ends, and with it the command.
    const loader = join(folder, "loader.mjs");
    await writeFile(
      loader,
      `if (process.argv[1] === ${JSON.stringify(program)}) process.on("exit", () => process.kill(process.ppid, "SIGTERM"));\n`,
    );
    const given = ["--import", loader, "dist/cli.js", "dev", "--program", program];
    const waited = await ran(node, given);
    expect([waited.code, waited.stderr]).toEqual([0, expect.not.stringContaining("does not run TypeScript")]);
  });
});

describe("usher: warnings of Node", () => {
  const command = runtimes["node-newest"]();

  /** A module in a folder with this `package.json`. */
  async function moduleIn(name: string, described: object): Promise<string> {
    const project = join(folder, name);
    mkdirSync(project);
    await writeFile(join(project, "package.json"), JSON.stringify(described));
    const module = join(project, "routes.ts");
    const { href } = pathToFileURL(join(root, "dist/index.js"));
    await writeFile(
      module,
      `import { Path, Returns, get } from ${JSON.stringify(href)};
process.emitWarning("the pool is old", { code: "SHOP_POOL" });
process.emitWarning("the store is old", { code: "SHOP_STORE" });
export const routes = [get(Path.of("a"), { returns: Returns.text }, (): string => "")];
`,
    );
    return module;
  }

  it("hides the one about a package without a type, and prints the others", async () => {
    const module = await moduleIn("plain", {});
    const alone = await ran(command, [module]);
    expect(alone.stderr).toContain("MODULE_TYPELESS_PACKAGE_JSON");
    const { code, stderr } = await ran(command, ["dist/cli.js", "routes", module]);
    expect(code).toBe(0);
    expect(stderr.match(/\[\w+\] Warning: .*/g)).toEqual([
      "[SHOP_POOL] Warning: the pool is old",
      "[SHOP_STORE] Warning: the store is old",
    ]);
  });

  it("reports what to set when the package is CommonJS, as npm init writes it", async () => {
    const module = await moduleIn("common", { type: "commonjs" });
    const { code, stderr } = await ran(command, ["dist/cli.js", "routes", module]);
    const described = join(folder, "common", "package.json");
    expect([code, stderr.trimEnd().split("\n").at(-1)]).toEqual([
      1,
      `usher routes: ${module} is an ES module, and "type" in ${described} is "commonjs": set it by npm pkg set type=module`,
    ]);
  });
});

/** `create-usher` in one process: what it takes, what it refuses, what it asks, and what it says to type next. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { clashOf, completed, databases, optionsOf, runtimes, samples, tests } from "../../create-usher/src/choices.ts";
import type { Choices, SomeChoices } from "../../create-usher/src/choices.ts";
import { filesOf } from "../../create-usher/src/project.ts";
import { run } from "../../create-usher/src/run.ts";
import type { Surroundings } from "../../create-usher/src/run.ts";

const root = join(import.meta.dirname, "../..");
const parent = mkdtempSync(join(tmpdir(), "usher-create-"));
afterAll(() => rmSync(parent, { recursive: true }));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(parent, "in-"));
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

async function create(args: readonly string[], around: Partial<Surroundings> = {}): Promise<Ran> {
  let [out, error] = ["", ""];
  const code = await run(args, {
    folder,
    userAgent: "npm/11.0.0 node/v24.0.0 linux x64",
    version: "1.2.3",
    terminal: undefined,
    out: (text) => (out += text),
    error: (text) => (error += text),
    ...around,
  });
  return { code, out, error };
}

const manifestIn = (project: string) =>
  JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
    readonly name: string;
    readonly scripts: { readonly dev: string };
    readonly dependencies: { readonly [name: string]: string };
  };

describe("create-usher names a Node version that cannot run the project", () => {
  it.each([
    ["20.20.2", "node", true],
    ["22.17.1", "workers", true],
    ["22.18.0", "node", false],
    ["24.0.0", "workers", false],
    ["20.20.2", "bun", false],
  ])("%s, for %s: %s", async (version, runtime, isNamed) => {
    const userAgent = `npm/11.0.0 node/v${version} linux x64`;
    const { code, out } = await create(["my-api", "--yes", "--runtime", runtime], { userAgent });
    const line = `First update Node: the project needs 22.18 or newer, and this is ${version}.`;
    expect([code, out.includes(line)]).toEqual([0, isNamed]);
  });
});

describe("without a terminal, create-usher", () => {
  it("makes the default project, and asks nothing", async () => {
    expect(await create([])).toMatchObject({ code: 0, error: "" });
    const { name, dependencies } = manifestIn(join(folder, "my-api"));
    expect([name, Object.keys(dependencies)]).toEqual(["my-api", ["usher-http", "valibot"]]);
    expect(existsSync(join(folder, "my-api/.gitignore"))).toBe(true);
  });

  it("leaves no placeholder of its templates in any file", async () => {
    const all = Object.keys(runtimes).flatMap((runtime) => Object.keys(samples).map((sample) => [runtime, sample]));
    for (const [runtime = "", sample = ""] of all) {
      await create([`${runtime}-${sample}`, "--runtime", runtime, "--sample", sample]);
    }
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(100);
    const marked = files
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => {
        const text = readFileSync(file, "utf8");
        // No two blank lines where something was left out, and none at the beginning.
        return /(?:#|\/\/|<!--) (?:if [a-z]|end\b)|my-api|\n\n\n|^\n/.test(text);
      });
    expect(marked).toEqual([]);
  });

  it.each([
    ["--help", 0, "--runtime <node|bun|deno|workers>", ""],
    ["-h", 0, "npm create usher", ""],
    ["--version", 0, "1.2.3\n", ""],
    ["a --runtime php", 2, "", '--runtime is one of node, bun, deno, workers, and not "php".'],
    ["a --runtime", 2, "", "argument missing"],
    ["a --database mysql", 2, "", '--database is one of none, postgres, and not "mysql".'],
    ["a --sample constructor", 2, "", '--sample is one of hello, api, live, and not "constructor".'],
    ["a --sample api --database none", 2, "", "keeps its orders in PostgreSQL"],
    ["a --sample hello --database postgres", 2, "", "keeps nothing"],
    ["a --sample live --runtime workers", 2, "", "which Workers do not have"],
    ["a --database postgres --runtime workers --sample live", 2, "", "which Workers do not have"],
    ["a --tests sqlite", 2, "", '--tests is one of url, pglite, and not "sqlite".'],
    ["a --tests pglite --runtime bun", 2, "", "PGlite is for tests on Node"],
    ["a --tests pglite --sample live", 2, "", "PGlite is for the tests of the sample `api`"],
    ["a --tests pglite --database none", 2, "", "PGlite is for the tests of the sample `api`"],
    ["a --force", 2, "", "create-usher: Unknown option '--force'.\n"],
    ["a node", 2, "", "npm create usher my-api -- --yes"],
  ])("with %s exits with %i", async (line, code, out, error) => {
    const ran = await create(line.split(" "));
    expect(ran).toEqual({ code, out: expect.stringContaining(out), error: expect.stringContaining(error) });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("the guide on new projects", () => {
  const page = readFileSync(join(root, "docs/guides/new-project.md"), "utf8");
  const [, table = ""] = /^\| file \| in \| is \|\n(.*?)\n\n/ms.exec(page) ?? [];
  const rows = table.split("\n").map((row) => row.split("|").map((cell) => cell.trim().replaceAll("`", "")));

  function isMade(condition: string, { runtime, database, sample, tests }: Choices): boolean {
    const kind = runtime === "workers" ? "Workers" : "not Workers";
    const chosen = ["every project", sample, kind, ...(tests === "pglite" ? ["PGlite"] : [])];
    return condition
      .split(" with ")
      .every((part) => [...chosen, ...(database === "postgres" ? ["PostgreSQL"] : [])].includes(part));
  }

  const all = Object.keys(runtimes)
    .flatMap((runtime) => Object.keys(databases).map((database) => ({ runtime, database })))
    .flatMap((pair) => Object.keys(samples).map((sample) => ({ ...pair, sample })))
    .flatMap((three) => Object.keys(tests).map((tests) => ({ ...three, tests }) as Choices))
    .filter((choices) => clashOf(choices) === undefined);

  it.each(all)("lists what is made on $runtime, with database $database, as $sample, tests on $tests", (choices) => {
    const listed = rows
      .slice(1)
      .filter(([, , condition = ""]) => isMade(condition, choices))
      .flatMap(([, files = ""]) => files.split(", "));
    const made = [...filesOf(join(root, "create-usher/templates"), choices, "my-api").keys()];
    // A folder stands for its files.
    const folders = listed.filter((path) => path.endsWith("/"));
    const found = made.map((path) => folders.find((folder) => path.startsWith(folder)) ?? path);
    expect([...new Set(found)].toSorted()).toEqual(listed.toSorted());
  });
});

describe("create-usher names a project", () => {
  // Two projects, or one and the tutorial, would find each other's tables and migrations in one database.
  it.each(["node", "workers"])("and its database on %s", async (runtime) => {
    await create(["@shop/true", "--runtime", runtime, "--sample", "api"]);
    const read = (path: string) => readFileSync(join(folder, "true", path), "utf8");
    expect(read(".env")).toContain("=postgres://postgres:postgres@localhost:5432/true\n");
    expect(read("compose.yaml")).toContain('POSTGRES_DB: "true"\n');
  });

  it.each([
    ["my api", "my api", "my-api"],
    ["MyApi", "MyApi", "myapi"],
    ["@shop/orders", "orders", "@shop/orders"],
    ["deep/down/api", "deep/down/api", "api"],
    ["./api/", "api", "api"],
    ["..api", "..api", "api"],
    [String.raw`C:\my\api`, String.raw`C:\my\api`, "c-my-api"],
    ["it's", "it's", "it-s"],
    ["Ünï", "Ünï", "n"],
    ["x".repeat(250), "x".repeat(250), "x".repeat(200)],
  ])("makes %s in the folder %s, with the name %s", async (given, path, name) => {
    expect(await create([given])).toMatchObject({ code: 0, error: "" });
    expect(manifestIn(join(folder, path)).name).toBe(name);
  });

  // wrangler refuses any other name, and Docker a tilde.
  it("and a Worker with letters, digits and hyphens, whatever its folder is called", async () => {
    await create(["shop.example~2", "--runtime", "workers", "--sample", "api"]);
    const made = join(folder, "shop.example~2");
    const read = (path: string) => readFileSync(join(made, path), "utf8");
    expect(manifestIn(made).name).toBe("shop.example~2");
    expect(read("wrangler.jsonc")).toContain('"name": "shop-example-2"');
    expect(read(".env")).toContain("/shop-example-2\n");
    expect(read("compose.yaml")).toContain('POSTGRES_DB: "shop-example-2"\n');
  });

  it("and the database of a Worker in its README's migrate command, since that reads no .env", async () => {
    await create(["my-orders", "--runtime", "workers", "--sample", "api"]);
    const read = (file: string) => readFileSync(join(folder, "my-orders", file), "utf8");
    const [, url] = /^CLOUDFLARE_\w+=(.+)$/m.exec(read(".env")) ?? [];
    expect(url).toBe("postgres://postgres:postgres@localhost:5432/my-orders");
    expect(read("README.md")).toContain(`\nDATABASE_URL=${url} npx usher-http migrate migrations `);
  });

  it("makes a project in the folder where it runs", async () => {
    mkdirSync(join(folder, ".git"));
    const { code, out } = await create(["."]);
    expect([code, out]).toEqual([0, expect.not.stringContaining("cd ")]);
    expect(manifestIn(folder).name).toBe(basename(folder).toLowerCase());
  });

  it.each([
    ["..", "is not empty"],
    ["full", "is not empty"],
    ["file", "file is a file"],
    ["file/api", "file is a file"],
    ["/proc/api", "cannot be written"],
    ["日本", "No package name can be made"],
    ["...", "No package name can be made"],
    ["a\u0000b", "control character"],
    ["a\u001b[2Jb", "control character"],
    ["", "is not empty"],
    ["valibot", "name of a package that the project uses"],
    ["node_modules", "name of a package that the project uses"],
    ["y".repeat(300), "ENAMETOOLONG"],
  ])("writes nothing into %j", async (given, error) => {
    mkdirSync(join(folder, "full"));
    writeFileSync(join(folder, "full/package.json"), "mine");
    writeFileSync(join(folder, "file"), "mine");
    expect(await create([given])).toEqual({ code: 1, out: "", error: expect.stringContaining(error) });
    expect(new Set(readdirSync(folder, { recursive: true, encoding: "utf8" }))).toEqual(
      new Set(["file", "full", "full/package.json"]),
    );
    expect(readFileSync(join(folder, "full/package.json"), "utf8")).toBe("mine");
  });
});

describe("create-usher prints the next commands", () => {
  it.each([
    ["npm/11.0.0 node/v24", [], ["cd my-api", "npm install", "npm run dev"]],
    ["pnpm/10.0.0 npm/? node/v24", [], ["cd my-api", "pnpm install", "pnpm run dev"]],
    ["yarn/4.0.0 npm/? node/v24", [], ["cd my-api", "yarn install", "yarn run dev"]],
    ["bun/1.4.5 npm/? node/v24", [], ["cd my-api", "bun install", "bun run dev"]],
    ["deno/2.9.5 npm/? deno/2.9.5", [], ["cd my-api", "deno install", "deno task dev"]],
    ["deno/2.9.5", ["--runtime", "node"], ["cd my-api", "npm install", "npm run dev"]],
    ["npm/11.0.0", ["--runtime", "bun"], ["cd my-api", "bun install", "bun run dev"]],
    ["", ["my api"], ["cd 'my api'", "npm install", "npm run dev"]],
    ["", ["a'; rm -rf b"], [String.raw`cd 'a'\''; rm -rf b'`, "npm install", "npm run dev"]],
    [
      "npm/11.0.0",
      ["--sample", "api"],
      [
        "cd my-api",
        "npm install",
        "docker compose up --detach --wait   # or name another database in .env",
        "npm run dev",
      ],
    ],
  ])("to a user of %j with %j", async (userAgent, args, steps) => {
    const { out } = await create(args, { userAgent });
    expect([...out.matchAll(/^ {2}(.*)$/gm)].map(([, step]) => step)).toEqual(steps);
  });
});

it.each(["linux", "darwin", "win32"] as const)(
  "on %s the scripts replace their shell where it has `exec`",
  (platform) => {
    const choices = { runtime: "node", database: "none", sample: "hello", tests: "url" } as const;
    const files = filesOf(join(root, "create-usher/templates"), choices, "my-api", platform);
    const { scripts } = JSON.parse(files.get("package.json") ?? "") as { readonly scripts: { readonly start: string } };
    const start = "node --env-file-if-exists=.env src/main.ts";
    expect(scripts.start).toBe(platform === "win32" ? start : `exec ${start}`);
  },
);

describe("on a terminal, create-usher", () => {
  const [down, enter, ctrlC] = ["\u001b[B", "\r", "\u0003"];
  let input: PassThrough;
  let shown = "";
  afterEach(() => {
    input.destroy();
  });

  function press([key, ...others]: readonly string[]): void {
    if (key === undefined) return;
    input.write(key);
    setImmediate(() => press(others));
  }

  /** Types each key once the question before it is shown. */
  async function typed(
    args: readonly string[],
    keys: readonly (readonly [question: string, key: string])[],
  ): Promise<Ran> {
    input = new PassThrough();
    const output = new PassThrough();
    shown = "";
    const left = [...keys];
    output.on("data", (part: Buffer) => {
      shown += part.toString();
      const [next] = left;
      if (next === undefined || !shown.includes(next[0])) return;
      left.shift();
      // The question listens only after it is shown.
      setImmediate(() => press(next[1].split(" ")));
    });
    return create(args, { terminal: { input, output } });
  }

  it("asks for each option that is not given", async () => {
    const { code } = await typed(
      [],
      [
        ["In which folder?", `shop ${enter}`],
        ["Where does it run?", `${down} ${enter}`],
        ["Which database does it use?", `${down} ${enter}`],
        ["What does it begin with?", enter],
      ],
    );
    expect(code).toBe(0);
    const { name, scripts, dependencies } = manifestIn(join(folder, "shop"));
    expect([name, scripts.dev, "postgres" in dependencies]).toEqual(["shop", "exec bun --watch src/main.ts", true]);
    expect(existsSync(join(folder, "shop/src/orders.ts"))).toBe(true);
    expect(shown).not.toContain("hello");
  });

  it("asks what the tests of the SQL run on, where there is a choice", async () => {
    const { code } = await typed(
      ["shop", "--runtime", "node", "--sample", "api"],
      [["What do the tests of the SQL run on?", `${down} ${enter}`]],
    );
    expect(code).toBe(0);
    const text = (path: string): string => readFileSync(join(folder, "shop", path), "utf8");
    expect(JSON.parse(text("package.json"))).toHaveProperty(["devDependencies", "@electric-sql/pglite"]);
    expect(text("test/postgres-store.test.ts")).toContain("./database.ts");
    for (const path of ["README.md", ".github/workflows/ci.yml", "test/postgres-store.test.ts"])
      expect([path, text(path)]).toEqual([path, expect.not.stringContaining("TEST_DATABASE_URL")]);
  });

  it("takes what is needed for PGlite", async () => {
    expect((await create(["--tests", "pglite", "--yes", "a"])).code).toBe(0);
    expect(existsSync(join(folder, "a/test/database.ts"))).toBe(true);
  });

  it("asks for a folder until it gets a free one", async () => {
    writeFileSync(join(folder, "full"), "");
    const { code } = await typed(
      ["--sample", "hello", "--runtime", "node"],
      [
        ["In which folder?", `full ${enter}`],
        ["is a file", `2 ${enter}`],
      ],
    );
    expect([code, manifestIn(join(folder, "full2")).name]).toEqual([0, "full2"]);
  });

  it("does not ask for a given option, or if there is only one choice", async () => {
    expect(await typed(["a", "--sample", "api", "--runtime", "workers"], [])).toMatchObject({ code: 0 });
    expect(await typed(["b", "--yes"], [])).toMatchObject({ code: 0 });
    expect(shown).toBe("");
  });

  it("makes nothing after Ctrl-C", async () => {
    const { code, error } = await typed(["a"], [["Where does it run?", ctrlC]]);
    expect([code, error]).toEqual([130, "create-usher: Nothing was made.\n"]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("reports that a folder is not free before it asks anything", async () => {
    expect(await typed([".."], [])).toMatchObject({ code: 1, error: expect.stringContaining("is not empty") });
    expect(shown).toBe("");
  });
});

describe("the choices", () => {
  const all = { runtime: runtimes, database: databases, sample: samples, tests };
  const names = Object.keys(all) as (keyof Choices)[];
  const pairs = names.flatMap((one) => names.filter((other) => other !== one).map((other) => [one, other] as const));
  const chosen = pairs.flatMap(([one, other]) => {
    return Object.keys(all[one]).flatMap((first) => {
      return Object.keys(all[other]).map((second): SomeChoices => ({ [one]: first, [other]: second }));
    });
  });

  it("lead to a valid project, for every pair of them", () => {
    const possible = chosen.filter((some) => clashOf(some) === undefined);
    expect(possible.length).toBeGreaterThan(30);
    for (const some of possible) {
      const whole = completed(some, "node");
      expect([whole, clashOf(whole)]).toEqual([{ ...whole, ...some }, undefined]);
      for (const name of names) expect(optionsOf(name, some).length).toBeGreaterThan(0);
    }
  });
});

describe("the templates", () => {
  const text = (path: string) => readFileSync(join(root, path), "utf8");
  const versionsIn = (path: string) => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(text(path)) as {
      readonly dependencies?: object;
      readonly devDependencies?: object;
    };
    return { ...devDependencies, ...dependencies } as { readonly [name: string]: string };
  };
  const own = JSON.parse(text("package.json")) as {
    readonly version: string;
    readonly peerDependencies: { readonly [name: string]: string };
  };
  const layers = readdirSync(join(root, "create-usher/templates"));
  const manifests = layers.map((layer) => `create-usher/templates/${layer}/package.json`);

  it("name the versions with which this repository is tested", () => {
    const known = {
      ...versionsIn("package.json"),
      ...own.peerDependencies,
      "usher-http": `^${own.version}`,
      // Not installed here: it is large, and Miniflare and esbuild are its parts that run a Worker.
      wrangler: "^4.164.0",
    };
    const used = manifests.filter((path) => existsSync(join(root, path))).map(versionsIn);
    const all = used.flatMap((versions) => Object.entries(versions));
    expect(all.length).toBeGreaterThan(6);
    expect(all.filter(([name, version]) => (known as { [name: string]: string })[name] !== version)).toEqual([]);
    expect(JSON.parse(text("create-usher/package.json"))).toMatchObject({ version: own.version });
  });

  it("are in the package, without a file that npm omits", () => {
    const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
    const out = execFileSync("npm", args, { cwd: join(root, "create-usher"), stdio: ["ignore", "pipe", "ignore"] });
    const [packed] = Object.values(JSON.parse(out.toString()) as readonly { files: { path: string }[] }[]);
    const paths = packed?.files.map(({ path }) => path).toSorted() ?? [];
    const entries = readdirSync(join(root, "create-usher/templates"), { recursive: true, withFileTypes: true });
    const templates = entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        return join(entry.parentPath, entry.name).slice(join(root, "create-usher/").length);
      });
    expect(paths).toEqual(["LICENSE", "README.md", "dist/main.js", "package.json", ...templates].toSorted());
  });
});

it("writes an AGENTS.md of about sixty lines", async () => {
  await create(["--sample", "api", "--yes", "a"]);
  const lines = readFileSync(join(folder, "a/AGENTS.md"), "utf8").split("\n").length;
  expect([lines > 45, lines < 75]).toEqual([true, true]);
});

/** The command line in this process: what it prints, and the exit code it ends with. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { run } from "../../cli/run.ts";

const root = join(import.meta.dirname, "../..");
const orders = join(import.meta.dirname, "shop-routes.ts");
const loose = join(import.meta.dirname, "loose-routes.ts");
const folder = mkdtempSync(join(tmpdir(), "usher-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

async function usher(...args: string[]): Promise<Ran> {
  return usherOn({}, ...args);
}

async function usherOn(terminal: { readonly columns?: number }, ...args: string[]): Promise<Ran> {
  let [out, error] = ["", ""];
  const decoder = new TextDecoder();
  const textOf = (part: string | Uint8Array) =>
    typeof part === "string" ? part : decoder.decode(part, { stream: true });
  const told = {
    out: (part: string | Uint8Array) => void (out += textOf(part)),
    error: (text: string) => void (error += text),
  };
  const code = await run(args, { ...told, ...terminal });
  return { code, out, error };
}

describe("usher", () => {
  it("lists its commands, with their arguments", async () => {
    const { code, out } = await usher("--help");
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^usher <command>\n\n  dev .*\n  call .*\n  routes .*\n  openapi .*\n  client /),
    ]);
    for (const name of ["dev", "call", "routes", "openapi", "client"]) {
      expect(await usher(name, "--help")).toMatchObject({
        code: 0,
        out: expect.stringContaining(`usher ${name} <module>`),
      });
    }
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(await usher("--version")).toEqual({ code: 0, out: `${version}\n`, error: "" });
  });

  it.each([
    [[], /^usher <command>/],
    [["dev"], /^usher dev: the module is missing\nSee usher dev --help\n$/],
    [["dev", "a.ts", "b.ts"], /give one module, not 2/],
    [["dev", "a.ts", "--port", "x"], /--port must be a number from 0 to 65535, not x/],
    [["dev", "a.ts", "--port", "65536"], /--port must be a number from 0 to 65535, not 65536/],
    [["dev", "a.ts", "--program", "--port", "1"], /--program takes no --port: the program chooses it/],
    [["dev", "a.ts", "--program", "--host", "0.0.0.0"], /--program takes no --host: the program chooses it/],
    [["serve"], /^usher has no command "serve"/],
    [["routes"], /^usher routes: the module is missing\nSee usher routes --help\n$/],
    [["routes", "a.ts", "b.ts"], /give one module, not 2/],
    [["routes", "a.ts", "--loud"], /Unknown option '--loud'/],
    [["openapi", "a.ts", "--output"], /Option '-o, --output <value>' argument missing/],
    [["openapi", "a.ts", "--version", "2.0"], /--version must be 3.1 or 3.2, not 2.0/],
    [["openapi", orders, "-o", "a", "--check", "a"], /use either --output or --check, not both/],
  ])("ends with 2 for the arguments %j", async (args, said) => {
    expect(await usher(...args)).toEqual({ code: 2, out: "", error: expect.stringMatching(said) });
  });
});

describe("usher, with a module that it cannot use", () => {
  it.each([
    ["a module that is not there", "missing.ts", undefined, /missing.ts is missing/],
    ["a module without routes", "none.mjs", "export const others = [];", /none.mjs exports no list named routes/],
    [
      "a promise",
      "late.mjs",
      "export const routes = Promise.resolve([]);",
      /late.mjs: routes is a promise, and not a list/,
    ],
    [
      "a list of something else",
      "else.mjs",
      "export const routes = [1];",
      /else.mjs: the route 0 of the list is a number/,
    ],
    [
      "a route without what it returns",
      "lacks.mjs",
      `import { Path, get } from ${JSON.stringify(pathToFileURL(join(root, "src/index.ts")).href)};
export const routes = [get(Path.of("a"), {}, () => "")];`,
      /^usher routes: \S*lacks.mjs: GET \/a: returns is undefined, and not one of Returns\n$/,
    ],
    [
      "a list in the list",
      "list.mjs",
      "export const routes = [[]];",
      /the route 0 of the list is a list: write `...` before/,
    ],
    [
      "a module that calls them something else",
      "named.mjs",
      "export const Routes = []; export default [];",
      /named.mjs exports no list named routes: it exports Routes and default\n$/,
    ],
    [
      "a module that exports nothing",
      "nothing.mjs",
      "",
      /nothing.mjs exports no list named routes: it exports nothing\n$/,
    ],
    [
      "a module that throws",
      "throws.mjs",
      "throw new Error('no store');",
      /^usher routes: \S*throws.mjs cannot be loaded:\nError: no store\n +at .*throws.mjs:1:\d+\)?\n(?!.* at .*\/cli\/)/s,
    ],
    [
      "a module that throws what is no error",
      "word.mjs",
      "throw 'no store';",
      /word.mjs cannot be loaded:\nno store\n$/,
    ],
    [
      "a module that imports what is not there",
      "astray.mjs",
      "import './nowhere.mjs';",
      /^usher routes: \S*astray.mjs cannot be loaded:\n.*nowhere.mjs.*\n(?! +at node:)/,
    ],
  ])("ends with 1 for %s", async (_, name, text, said) => {
    const file = join(folder, name);
    if (text !== undefined) writeFileSync(file, text);
    expect(await usher("routes", file)).toEqual({ code: 1, out: "", error: expect.stringMatching(said) });
  });
});

it.each([
  ["missing.ts", /^usher dev: .*missing\.ts is missing\n$/],
  [".", /is a folder, not a module\n$/],
])("usher dev ends with 1 for %s, which it cannot watch", async (name, said) => {
  expect(await usher("dev", join(folder, name))).toEqual({ code: 1, out: "", error: expect.stringMatching(said) });
});

it("usher dev ends with 1 for variables that it cannot read", async () => {
  const file = join(folder, "any.mjs");
  writeFileSync(file, "");
  const error = expect.stringMatching(/^usher dev: \S+ cannot be read: EISDIR\n$/);
  expect(await usher("dev", file, "--program", "--env", folder)).toEqual({ code: 1, out: "", error });
});

describe("usher routes on a terminal", () => {
  it("is a table if it fits", async () => {
    const { out } = await usherOn({ columns: 1000 }, "routes", orders);
    expect(out).toMatch(/^METHOD +PATH +READS/);
    const widest = Math.max(...out.split("\n").map((line) => line.length));
    expect((await usherOn({ columns: widest }, "routes", orders)).out).toBe(out);
  });

  it("is as on a terminal of 100 columns where there is none", async () => {
    const { out } = await usher("routes", orders);
    expect(out).toBe((await usherOn({ columns: 100 }, "routes", orders)).out);
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  it("has a route's lines below each other if the table does not fit, none longer than the terminal is wide", async () => {
    const { out: table } = await usherOn({ columns: 1000 }, "routes", orders);
    const { code, out } = await usherOn({ columns: 60 }, "routes", orders);
    const lines = out.split("\n");
    expect(code).toBe(0);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(lines[0]).toBe("POST /orders");
    expect(lines.filter((line) => /^\S/.test(line))).toHaveLength(table.trimEnd().split("\n").length - 1);
    // Nothing of the table is left out.
    const words = (text: string) => text.split(/\s+/).filter((word) => !/^(reads|answers|refuses)?$/i.test(word));
    expect(words(out)).toEqual(words(table).slice(2));
  });
});

/** A module of routes, with what it exports. */
function moduleOf(name: string, exported: string): string {
  const file = join(folder, name);
  const source = JSON.stringify(pathToFileURL(join(root, "src/index.ts")).href);
  writeFileSync(
    file,
    `import { Deadline, Path, RefusalFormat, Returns, Shape, body, get, post } from ${source};
const text = (name) => get(Path.of(name), { returns: Returns.text }, () => "");
const reads = (name) => post(Path.of(name), { inputs: { body }, returns: Returns.text }, () => "");
${exported}
`,
  );
  return file;
}

describe("usher openapi, with messages and without a stack", () => {
  const clash = moduleOf("clash.mjs", 'export const routes = [text("a-b"), text("a_b")];');
  const noFormat = moduleOf("no-format.mjs", "export const refusalFormat = {}, routes = [];");
  it.each([
    ["what keeps routes from one document", [clash], /^GET \/a-b and GET \/a_b are both the operation get_a_b$/],
    ["what is no format", [noFormat], /^refusalFormat is made with RefusalFormat\.json, text or problemDetails$/],
    ["where it cannot write", [orders, "-o", join(folder, "none/a.json")], /a\.json cannot be written: ENOENT/],
    ["what it cannot compare with", [orders, "--check", folder], /cannot be read: EISDIR/],
    ["a folder in place of a module", [folder], /is a folder, not a module$/],
  ])("reports %s", async (_, args, said) => {
    const { code, error } = await usher("openapi", ...args);
    const [first = "", ...more] = error
      .trimEnd()
      .split("\n")
      .filter((line) => !line.startsWith("loose: "));
    expect([code, first.replace("usher openapi: ", ""), more]).toEqual([1, expect.stringMatching(said), []]);
  });
});

describe("usher routes", () => {
  it("has a line for each route", async () => {
    const { code, out } = await usherOn({ columns: 1000 }, "routes", orders);
    const cells = out.split("\n").map((line) => line.split(/ {2,}/));
    expect(code).toBe(0);
    expect(cells).toContainEqual(["METHOD", "PATH", "READS", "ANSWERS", "REFUSES"]);
    const added = "unsupported_media_type invalid unreadable too_large cross_origin";
    expect(cells).toContainEqual(["POST", "/orders", "json:NewOrder", "201 json:Order", `sold_out ${added}`]);
    expect(cells).toContainEqual(["GET", "/orders", "query.page?", "200 json:value", "invalid"]);
    const clerk = "path.order_id header.authorization?";
    const removed = ["DELETE", "/orders/{order_id}", clerk, "204 empty", "not_found signed_out invalid cross_origin"];
    expect(cells).toContainEqual(removed);
    expect(cells).toContainEqual(["GET", "/feed", "200 events:placed,closed"]);
    const imported = ["POST", "/orders/import", "lines:NewOrder", "200 lines:Order", added];
    expect(cells).toContainEqual(imported);
    expect(cells).toContainEqual(["GET", "/livez", "200 text"]);
  });

  it("lists the other inputs", async () => {
    const { out } = await usherOn({ columns: 1000 }, "routes", loose);
    expect(out).toMatch(
      /^GET +\/files\/\{rest\*\} +path\.rest\.\.\. query\.tag\.\.\. \(more than it says\) +200 text +invalid$/m,
    );
    expect(out).toMatch(/^POST +\/notes +form\.title form\.tag\.\.\. form\.file\? +201 204 empty /m);
    expect(out).toMatch(/^POST +\/bytes +bytes \(the moon\) +response /m);
  });

  it("has the 304 of a conditional request, if the document has it", async () => {
    const conditional = JSON.stringify(pathToFileURL(join(root, "src/representations/index.ts")).href);
    const exported = `
      import { Conditional } from ${conditional};
      const versioned = { inputs: { versions: Conditional.validators }, returns: Returns.text };
      export const routes = [
        get(Path.of("one"), versioned, () => ""),
        post(Path.of("other"), versioned, () => ""),
        text("plain"),
        ...Conditional.tagJson([get(Path.of("tagged"), { returns: Returns.json(Shape.uuid) }, () => "")]),
      ];`;
    const module = moduleOf("conditional.mjs", exported);
    const { out } = await usherOn({ columns: 1000 }, "routes", module);
    const answers = out
      .split("\n")
      .flatMap((line) => /\/(\w+) .*?(\d[\d ]*) (?:text|json)/.exec(line)?.slice(1, 3) ?? []);
    expect(answers).toEqual(["one", "200 304", "other", "200", "plain", "200", "tagged", "200 304"]);
    const { paths } = JSON.parse((await usher("openapi", module)).out);
    const described = Object.entries(paths).filter(([, path]) => JSON.stringify(path).includes('"304"'));
    expect(described.map(([path]) => path)).toEqual(["/one", "/tagged"]);
  });

  it("has a route of a group in full", async () => {
    const { out } = await usherOn({ columns: 1000 }, "routes", loose);
    expect(out).toMatch(/^GET +\/shops\/\{shop\}\/\{shelf\} +path\.shop path\.shelf query\.q\? +200 text +invalid$/m);
  });
});

describe("usher openapi", () => {
  it("CLI-01 prints the document", async () => {
    const { code, out } = await usher("openapi", orders, "--title", "Orders", "--api-version", "7");
    expect([code, JSON.parse(out)]).toMatchObject([0, { openapi: "3.2.0", info: { title: "Orders", version: "7" } }]);
    expect(JSON.parse((await usher("openapi", orders, "--version", "3.1")).out)).toMatchObject({ openapi: "3.1.0" });
  });

  it("has the format of refusals that the module exports", async () => {
    const exported = "export const refusalFormat = RefusalFormat.problemDetails(), routes = [text('a')];";
    const { out } = await usher("openapi", moduleOf("format.mjs", exported));
    expect(Object.keys(JSON.parse(out).components.schemas)).toEqual(["ProblemDetails"]);
  });

  it.each([
    ["exports", 'export const decompress = { encodings: ["gzip"], decoded };'],
    ["exports with its options", 'export const options = { decompress: { encodings: ["gzip"], decoded } };'],
  ])("has the content codings if the module %s", async (what, exported) => {
    const posts = "const decoded = () => undefined; export const routes = [reads('a')];";
    const { code, out } = await usher("openapi", moduleOf(`${what}.mjs`, `${posts}\n${exported}`));
    const { parameters } = JSON.parse(out).paths["/a"].post;
    expect([code, parameters]).toMatchObject([0, [{ name: "Content-Encoding", schema: { enum: ["gzip"] } }]]);
  });

  it("has the refusals at a deadline of the app's options, like the document that the app serves", async () => {
    const exported = "export const routes = [text('a')], options = { deadline: Deadline.make(1000) };";
    const { out } = await usher("openapi", moduleOf("deadline.mjs", exported));
    expect(out).toContain("timed_out:");
    expect((await usher("openapi", moduleOf("none.mjs", "export const routes = [text('a')];"))).out).not.toContain(
      "timed_out",
    );
  });

  it("writes the file, and finds it unchanged in any layout", async () => {
    const file = join(folder, "orders.json");
    expect(await usher("openapi", orders, "-o", file)).toEqual({ code: 0, out: `${file}\n`, error: "" });
    expect(await usher("openapi", orders, "--check", file)).toMatchObject({ code: 0, out: "" });
    const { openapi, ...others } = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...others, openapi }));
    expect(await usher("openapi", orders, "--check", file)).toMatchObject({ code: 0, out: "" });
  });

  it("reports a file with another document", async () => {
    const file = join(folder, "other.json");
    const document = JSON.parse((await usher("openapi", orders)).out);
    delete document.paths["/livez"];
    document.paths["/gone"] = { get: {} };
    document.components.schemas.Order.properties.item.maxLength = 99;
    writeFileSync(file, JSON.stringify(document));
    const { code, out, error } = await usher("openapi", orders, "--check", file);
    expect([code, error]).toEqual([1, `usher openapi: ${file} is not what the routes make: generate it again\n`]);
    expect(out.split("\n")).toEqual([
      '- /paths/~1gone {"get":{}}',
      expect.stringMatching(/^\+ \/paths\/~1livez \{"get":.*\.\.\.$/),
      "~ /components/schemas/Order/properties/item/maxLength 99 is now 100",
      "",
    ]);
    writeFileSync(file, "{");
    expect(await usher("openapi", orders, "--check", file)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^~ \/ no JSON is now/),
    });
  });

  it("CLI-06 reports a missing file", async () => {
    const file = join(folder, "missing.json");
    const error = `usher openapi: ${file} is missing: generate it\n`;
    expect(await usher("openapi", orders, "--check", file)).toEqual({ code: 1, out: "", error });
  });

  it("CLI-04, CLI-07 lists approximate schemas, and refuses them with --strict", async () => {
    const file = join(folder, "loose.json");
    await usher("openapi", loose, "-o", file);
    const checked = await usher("openapi", loose, "--check", file);
    expect(checked).toMatchObject({ code: 0, out: "", error: expect.stringMatching(/^(loose: .*\n)+$/) });
    const places = checked.error.trimEnd().split("\n").length;
    const strict = await usher("openapi", loose, "--check", file, "--strict");
    const said = places === 1 ? "1 place is described loosely" : `${places} places are described loosely`;
    expect(strict).toMatchObject({ code: 1, error: `${checked.error}usher openapi: ${said}\n` });
  });
});

describe("usher client", () => {
  const file = join(folder, "client.ts");

  it("prints a client, or writes it, and finds it unchanged", async () => {
    const { code, out } = await usher("client", orders);
    expect([code, out]).toEqual([0, expect.stringContaining('readonly "POST /orders": RouteCall<')]);
    expect(await usher("client", orders, "-o", file)).toEqual({ code: 0, out: `${file}\n`, error: "" });
    expect(readFileSync(file, "utf8")).toBe(out);
    expect(await usher("client", orders, "--check", file)).toEqual({ code: 0, out: "", error: "" });
    writeFileSync(file, out.replaceAll("\n", "\r\n"));
    expect(await usher("client", orders, "--check", file)).toMatchObject({ code: 0 });
  });

  it("reports a file with another client", async () => {
    const { out: made } = await usher("client", orders);
    writeFileSync(file, made.replace("item: string", "item: number"));
    const { code, out, error } = await usher("client", orders, "--check", file);
    expect([code, error]).toEqual([1, `usher client: ${file} is not what the routes make: generate it again\n`]);
    const at = made.slice(0, made.indexOf("item: string")).split("\n").length;
    const line = made.split("\n")[at - 1] ?? "";
    expect(out).toBe(`at line ${at}\n- ${line.replace("item: string", "item: number")}\n+ ${line}\n`);
  });

  it("gives no shape a name that it uses itself", async () => {
    const names = ["async iterable", "request", "date", "client", "promise", "order"];
    const odd = join(folder, "odd.mjs");
    writeFileSync(
      odd,
      `import { Path, Returns, Shape, get } from ${JSON.stringify(pathToFileURL(join(root, "src/index.ts")).href)};
import * as v from ${JSON.stringify(import.meta.resolve("valibot"))};
export const routes = ${JSON.stringify(names)}.map((name, i) =>
  get(Path.of("a" + i), { returns: Returns.json(Shape.named(name, v.object({}))) }, () => ({})));
`,
    );
    const { out } = await usher("client", odd);
    expect(out.match(/^export type \w+ = \{/gm)).toEqual(
      ["AsyncIterable_", "Request_", "Date_", "Client_", "Promise_", "Order"].map((name) => `export type ${name} = {`),
    );
  });
});

/** `usher call`: one request in this process, without a socket. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { run } from "../../cli/run.ts";
import { runtimes } from "../support/runtimes.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "usher-call-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A module of routes, with its other exports. */
function moduleOf(name: string, exported: string, entry = "src/index.ts"): string {
  const file = join(folder, name);
  writeFileSync(
    file,
    `import { after, Background, Codec, Dep, Event, Header, Path, RefusalFormat, Returns, Answer, body, get, post, json } from ${JSON.stringify(pathToFileURL(join(root, entry)).href)};
const store = Dep.ofResource("store");
const tick = Event.text("tick");
const type = Header.optional("content-type", Codec.string);
const echo = post(Path.of("echo"), { inputs: { body, type }, returns: Returns.response }, ({ body, type }) =>
  Answer.make(body, { status: 201, headers: [["x-type", type]], contentType: "application/octet-stream" }));
export const routes = [
  echo,
  get(Path.of("store"), { inputs: { store }, returns: Returns.text }, ({ store }) => store),
  get(Path.of("broken"), { returns: Returns.text }, () => { throw new Error("why it is broken"); }),
  get(Path.of("later"), { inputs: { after }, returns: Returns.text }, ({ after }) => {
    after(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      throw new Error("why it broke off later");
    });
    return "soon";
  }),
  get(Path.of("away"), { returns: Returns.response }, () => Answer.redirect("/store")),
  get(Path.of("feed"), { returns: Returns.events([tick]) }, () => async (send) => {
    for (const word of ["one", "two"]) await send(Event.make(tick, word));
  }),
];
${exported}
`,
  );
  return file;
}

async function call(...args: readonly string[]) {
  const decoder = new TextDecoder();
  let [out, error] = ["", ""];
  const code = await run(["call", ...args], {
    out: (part) => void (out += typeof part === "string" ? part : decoder.decode(part, { stream: true })),
    error: (part) => void (error += part),
  });
  return { code, out, error };
}

const stored = moduleOf("stored.mjs", 'export const options = { resources: [Dep.resource(store, "stored")] };');

describe("usher call", () => {
  it.each([
    [["GET", "/store"], { code: 0, out: "stored", error: "200 OK\n" }],
    [["get", "/store?page=2"], { code: 0, out: "stored", error: "200 OK\n" }],
    [["HEAD", "/store"], { code: 0, out: "", error: "200 OK\n" }],
    [["POST", "/echo", '{"a":1}'], { code: 0, out: '{"a":1}', error: "201 Created\n" }],
    [["GET", "/away"], { code: 0, out: "", error: "302 Found\n" }],
    [["GET", "/feed"], { code: 0, out: "event: tick\ndata: one\n\nevent: tick\ndata: two\n\n", error: "200 OK\n" }],
    [["GET", "/nowhere"], { code: 4, out: expect.stringContaining('"not_found"'), error: "404 Not Found\n" }],
    [["DELETE", "/store"], { code: 4, out: expect.any(String), error: "405 Method Not Allowed\n" }],
    [["GET", "//store/x"], { code: 4, out: expect.any(String), error: "404 Not Found\n" }],
  ])("prints the answer for %j", async (args, printed) => {
    expect(await call(stored, ...args)).toEqual(printed);
  });

  it("prints an error with its message, and ends with 5", async () => {
    expect(await call(stored, "GET", "/broken")).toEqual({
      code: 5,
      out: expect.not.stringContaining("why"),
      error: expect.stringMatching(/Error: why it is broken\n +at [^]*500 Internal Server Error\n$/),
    });
  });

  it("waits for the tasks after the answer", async () => {
    expect(await call(stored, "GET", "/later")).toEqual({
      code: 0,
      out: "soon",
      error: expect.stringMatching(/^200 OK\n.*Error: why it broke off later\n/s),
    });
  });

  it("waits for background work that a task after the answer starts", async () => {
    const exported = `const background = Background.create(), pause = () => new Promise((resolve) => setTimeout(resolve, 20));
export const worked = [], options = { background, resources: [Dep.resource(store, "stored")] };
routes.push(get(Path.of("work"), { inputs: { after }, returns: Returns.text }, ({ after }) => {
  after(async () => {
    await pause();
    background.start("the index", async () => {
      await pause();
      worked.push("indexed");
    });
  });
  return "soon";
}));`;
    const module = moduleOf("work.mjs", exported);
    expect(await call(module, "GET", "/work")).toMatchObject({ code: 0, out: "soon" });
    const { worked } = (await import(/* @vite-ignore */ pathToFileURL(module).href)) as { readonly worked: unknown };
    expect(worked).toEqual(["indexed"]);
  });

  it("releases the values of a stream that breaks off", async () => {
    const exported = `export const options = { resources: [Dep.resource(store, "stored")] };
const held = Dep.scoped({}, () => undefined, async () => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  console.error("released");
});
routes.push(get(Path.of("breaks"), { inputs: { held }, returns: Returns.events([tick]) }, () => async (send) => {
  await send(Event.make(tick, "one"));
  throw new Error("why it broke off");
}));`;
    const module = moduleOf("breaks.mjs", exported, "dist/index.js");
    const child = spawn(process.execPath, [join(root, "dist/cli.js"), "call", module, "GET", "/breaks"]);
    const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(out).toBe("event: tick\ndata: one\n\n");
    expect(errors).toContain("released");
  });

  it("prints the status and the headers with -i, and sends headers", async () => {
    const typed = await call(stored, "POST", "/echo", "x", "-i", "-H", "Content-Type: text/plain");
    expect(typed).toEqual({
      code: 0,
      out: expect.stringMatching(/^201 Created\n[^]*\nx-type: text\/plain\n\nx$/),
      error: "",
    });
    const untyped = await call(stored, "POST", "/echo", "x", "--include");
    expect(untyped.out).toContain("\nx-type: application/json\n");
  });
});

describe("usher call, its module's options and its arguments", () => {
  it.each([
    ["a function", 'export const options = async () => ({ resources: [Dep.resource(store, "made")] });'],
    ["an object", 'export const options = { resources: [Dep.resource(store, "made")] };'],
  ])("accepts options that are %s", async (name, exported) => {
    expect(await call(moduleOf(`${name}.mjs`, exported), "GET", "/store")).toMatchObject({ code: 0, out: "made" });
  });

  it("prints refusals in the module's format", async () => {
    const exported = `export const options = { resources: [Dep.resource(store, "made")] };
export const refusalFormat = RefusalFormat.problemDetails();`;
    const { out } = await call(moduleOf("format.mjs", exported), "GET", "/nowhere");
    expect(JSON.parse(out)).toMatchObject({ status: 404, error: "not_found" });
  });

  it.each([
    [
      "no options for a resource",
      "",
      /^usher call: .* the resource store, which the option resources lacks: add Dep\.resource\(…, value\)\nExport `options` beside `routes`: .*\n$/,
    ],
    [
      "options of another kind",
      "export const options = 3;",
      /x\.mjs: options is a number, not an object with the options/,
    ],
    ["a list of options", "export const options = [];", /x\.mjs: options is a list, not an object/],
    [
      "a function that makes none",
      "export const options = () => null;",
      /what options\(\) makes is null, not an object/,
    ],
    [
      "a function that fails",
      'export const options = () => { throw new Error("no database"); };',
      /x\.mjs: options\(\) failed:\nError: no database\n +at /,
    ],
  ])("reports the mistake of %s", async (_, exported, said) => {
    const file = moduleOf(`${Math.random()}x.mjs`, exported);
    expect(await call(file, "GET", "/store")).toEqual({ code: 1, out: "", error: expect.stringMatching(said) });
  });

  it.each([
    [[], /the module is missing/],
    [[stored], /the method is missing/],
    [[stored, "G T", "/"], /"G T" is not a method/],
    [[stored, "GET"], /the target is missing/],
    [[stored, "GET", "store"], /the target must be a path such as \/orders\?page=2, not "store"/],
    [[stored, "GET", "/a b"], /the target must be a path/],
    [[stored, "GET", "/a#b"], /the target must be a path/],
    [[stored, "POST", "/echo", "a", "b"], /give one body, in quotes/],
    [[stored, "GET", "/store", "body"], /GET \/store cannot be sent: /],
    [[stored, "TRACE", "/store"], /TRACE \/store cannot be sent: /],
    [[stored, "GET", "/store", "-H", "x"], /--header must be 'name: value', not "x"/],
    [[stored, "GET", "/store", "-H", "x y: z"], /--header must be 'name: value'/],
    [[stored, "GET", "/store", "-H", "x: a\nb"], /--header must be 'name: value'/],
    [[stored, "GET", "/store", "-v"], /Unknown option '-v'/],
  ])("ends with 2 for the arguments %j", async (args, said) => {
    expect(await call(...args)).toEqual({ code: 2, out: "", error: expect.stringMatching(said) });
  });

  it.each([
    { runtime: "Node 20", command: runtimes["node-oldest"](), args: ["dist/cli.js"] },
    { runtime: "Bun", command: runtimes.bun(), args: ["dist/cli.js"] },
    { runtime: "Deno", command: runtimes.deno(), args: ["run", "-A", "dist/cli.js"] },
  ])("reads a body from standard input on $runtime, byte by byte", async ({ command, args }) => {
    const module = moduleOf(
      "input.mjs",
      'export const options = { resources: [Dep.resource(store, "s")] };',
      "dist/index.js",
    );
    const child = spawn(command, [...args, "call", module, "POST", "/echo", "-"], { cwd: root });
    const closed = new Promise((resolve) => void child.once("close", resolve));
    const bytes = Buffer.from([0, 255, 10, 128]);
    child.stdin.end(bytes);
    const [out, error] = await Promise.all([child.stdout.toArray(), text(child.stderr)]);
    expect([Buffer.concat(out as Buffer[]), error, await closed]).toEqual([bytes, "201 Created\n", 0]);
  });
});

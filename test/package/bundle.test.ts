import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { BuildOptions } from "esbuild";
import { rolldown } from "rolldown";
import type { RolldownOutput } from "rolldown";
import { afterAll, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

const hello = `
import { App, Path, Returns, get } from "usher-http";
export const { fetch } = App.make([get(Path.root, { returns: Returns.text }, () => "hi")]);
`;

// As the guide for Workers says, because esbuild keeps all of `Path` and `Returns`.
const helloOfModules = `
import { App, get } from "usher-http";
import * as Path from "usher-http/path";
import * as Returns from "usher-http/returns";
export const { fetch } = App.make([get(Path.root, { returns: Returns.text }, () => "hi")]);
`;

// Of the chunk that all entries share, only what it uses may stay.
const path = `
import { Path } from "usher-http";
export const { pattern } = Path.root;
`;

const order = `
import { App, Path, Returns, json, post } from "usher-http";
import * as v from "valibot";
const Order = v.object({
  item: v.pipe(v.string(), v.minLength(1)),
  quantity: v.pipe(v.number(), v.integer(), v.minValue(1)),
});
const place = post(Path.of("orders"), { inputs: { order: json(Order) }, returns: Returns.json(Order) }, ({ order }) => order);
export const { fetch } = App.make([place]);
`;

// One language brings the table of sentences and its own texts.
const german = `
import { App } from "usher-http";
import { german, languages } from "usher-http/languages";
export const { fetch } = App.make([], { languages: languages([german]) });
`;

const documented = `
import { App, Openapi, Path, Returns, get } from "usher-http";
const hello = get(Path.root, { returns: Returns.text }, () => "hi");
export const { fetch } = App.make([hello, ...Openapi.docs([hello], { script: () => "" })]);
`;

const typedClient = `
import * as Client from "usher-http/client";
export const api = Client.of({ baseUrl: "" });
`;

const clientOfTheFrontDoor = `
import { Client } from "usher-http";
export const api = Client.of({ baseUrl: "" });
`;

/** Where a program loads a chunk later, what `esbuild in chunks` counts is without it; plain esbuild has all in one file. */
const bundlers = { rolldown: withRolldown, esbuild: withEsbuild, "esbuild in chunks": withSplitEsbuild };
type Bundler = keyof typeof bundlers;

const programs: { readonly [name: string]: string } = {
  "hello world": hello,
  "hello world of modules": helloOfModules,
  "a path": path,
  "hello world in German": german,
  "a JSON route": order,
  "an app that serves its API document": documented,
  "a typed client of usher-http/client": typedClient,
  "a typed client of usher-http": clientOfTheFrontDoor,
};

/** Bytes: 3 % of the smallest program are four. */
const slack = 50;

type Sizes = { [program: string]: { [bundler: string]: number } };
const sizesFile = join(import.meta.dirname, "sizes.json");
const sizes: Sizes = JSON.parse(readFileSync(sizesFile, "utf8"));

describe("bytes of a bundle, minified and gzipped", () => {
  const cases = Object.keys(programs).flatMap((program) => {
    return (Object.keys(bundlers) as Bundler[]).map((bundler) => ({ program, bundler }));
  });
  const isWritten = process.env["USHER_SIZES"] === "write";

  it.each(cases)("of $program by $bundler are at most 3 % over sizes.json", async ({ program, bundler }) => {
    const code = await bundlers[bundler](programs[program] ?? "");
    const bytes = gzipSync(code).length;
    const known = sizes[program]?.[bundler];
    if (isWritten) (sizes[program] ??= {})[bundler] = bytes;
    else if (known === undefined) throw new Error(`no size of ${program} by ${bundler}: npm run sizes writes it`);
    const size = sizes[program]?.[bundler] ?? 0;
    console.log(`${program} by ${bundler}: ${bytes} bytes gzipped, ${known ?? "none"} in sizes.json`);
    expect(bytes, "`npm run sizes` writes the new size").toBeLessThanOrEqual(size * 1.03 + slack);
    // A bundle of nothing is small, too.
    expect(bytes).toBeGreaterThan(size / 2);
    expect(code.match(/["'`]node:(?!async_hooks)\w+/)).toBeNull();
  });

  afterAll(() => {
    if (isWritten) writeFileSync(sizesFile, `${JSON.stringify(sizes, undefined, 2)}\n`);
  });

  it.each([
    { bundler: "rolldown", bundle: withRolldown },
    { bundler: "esbuild", bundle: withEsbuild },
  ])("what $bundler leaves still answers", async ({ bundle }) => {
    const code = await bundle(`import { Log } from "usher-http"; Log.setup({ level: undefined }); ${hello}`);
    const { fetch } = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`);
    const response: Response = await fetch(new Request("http://localhost/"));
    expect(await response.text()).toBe("hi");
  });
});

const ofEsbuild = {
  // Without it esbuild reads tsconfig.json, whose paths lead to the source.
  tsconfigRaw: {},
  bundle: true,
  minify: true,
  format: "esm",
  platform: "neutral",
  mainFields: ["module", "main"],
  external: ["node:*"],
  write: false,
} satisfies BuildOptions;

async function withEsbuild(contents: string): Promise<string> {
  const { outputFiles } = await build({ ...ofEsbuild, stdin: { contents, resolveDir: root } });
  return outputFiles[0]?.text ?? "";
}

async function withRolldown(program: string): Promise<string> {
  const entry = join(root, "program.js");
  const bundle = await rolldown({
    input: entry,
    external: /^node:/,
    platform: "neutral",
    tsconfig: false,
    plugins: [
      {
        name: "program",
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? program : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  await bundle.close();
  return loadedAtOnce(output);
}

/** The first chunk and those it brings, without those that a program asks for later. */
function loadedAtOnce([entry, ...others]: RolldownOutput["output"]): string {
  const brought = others.filter(({ fileName }) => entry.imports.includes(fileName));
  return [entry, ...brought].map((chunk) => ("code" in chunk ? chunk.code : "")).join("");
}

/** As `withEsbuild`, in chunks: the first one and those it brings. */
async function withSplitEsbuild(contents: string): Promise<string> {
  const { outputFiles, metafile } = await build({
    ...ofEsbuild,
    stdin: { contents, resolveDir: root },
    splitting: true,
    outdir: "chunks",
    metafile: true,
  });
  const chunks = Object.entries(metafile.outputs);
  const entry = chunks.find(([, { entryPoint }]) => entryPoint === "<stdin>");
  const brought = entry?.[1].imports.filter(({ kind, external }) => kind === "import-statement" && external !== true);
  const names = [entry?.[0], ...(brought ?? []).map(({ path }) => path)].map((name) => basename(name ?? ""));
  return names.map((name) => outputFiles.find(({ path }) => basename(path) === name)?.text ?? "").join("");
}

describe("kilobytes that a guide names", () => {
  const guide = (name: string) => readFileSync(join(root, `docs/guides/${name}.md`), "utf8");
  const bytesOf = async (program: string) => gzipSync(await withRolldown(program)).length;

  it("of the languages of the errors", async () => {
    const inLanguages = (...names: readonly string[]) =>
      `import { ${names.join(", ")}, languages } from "usher-http/languages";` +
      hello.replace(/\]\);$/m, `], { languages: languages([${names.join(", ")}]) });`);
    const none = await bytesOf(hello);
    const one = await bytesOf(inLanguages("german"));
    const all = await bytesOf(inLanguages("german", "french", "spanish", "japanese", "chinese"));
    const [, first, others] =
      /The first one adds (\d+) kB gzipped, and each other one (\d+) kB/.exec(guide("errors")) ?? [];
    expect([Math.round((one - none) / 1000), Math.round((all - one) / 4000)]).toEqual([Number(first), Number(others)]);
  });

  it("of the typed client", async () => {
    const client = `import * as Client from "usher-http/client"; export const api = Client.of({ baseUrl: "" });`;
    const [, size] = /\| size \| ([\d.]+) kB/.exec(guide("typed-client")) ?? [];
    expect((await bytesOf(client)) / 1000).toBeCloseTo(Number(size), 1);
  });
});

describe("a bundled typed client", () => {
  it.each(["rolldown", "esbuild in chunks"] as const)(
    "by %s makes an ordinary call with no second chunk",
    async (bundler) => {
      const code = await bundlers[bundler](`
      import * as Client from "usher-http/client";
      export const call = (fetch) => Client.of({ baseUrl: "http://localhost/api/", fetch })["PUT /a b/{id}"];
    `);
      const { call } = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`);
      const sent: unknown[] = [];
      const answers = [
        Response.json({ item: "pen" }),
        Response.json({ error: "sold_out", message: "No." }, { status: 409 }),
        new Response(null, { status: 204 }),
      ];
      const put = call(async (request: Request) => {
        sent.push(`${request.method} ${request.url} ${request.headers.get("content-type")} ${await request.text()}`);
        return answers.shift() ?? Promise.reject(new TypeError("fetch failed"));
      });
      const given = { path: { id: "7/8" }, query: { tag: ["x", "y z"] }, json: { n: 1 } };
      expect(await put(given)).toMatchObject({ ok: true, status: 200, value: { item: "pen" } });
      expect(await put(given)).toMatchObject({
        ok: false,
        status: 409,
        error: "sold_out",
        message: "No.",
        problems: [],
      });
      expect(await put(given)).toMatchObject({ ok: true, status: 204, value: undefined });
      expect(await put(given)).toMatchObject({ ok: false, status: 0, error: "unreachable" });
      expect(sent[0]).toBe('PUT http://localhost/api/a%20b/7%2F8?tag=x&tag=y+z application/json {"n":1}');
    },
  );
});

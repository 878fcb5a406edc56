import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { BuildOptions } from "esbuild";
import { rolldown } from "rolldown";
import type { RolldownOutput } from "rolldown";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

const hello = `
import { App, Path, Returns, get } from "usher-http";
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

// Bytes, minified and gzipped: what was measured and a few in a hundred more. esbuild keeps every member of an
// `export * as`, so `Returns.text` brings `Returns.json` and with it the readers and writers of shapes. The cross-origin check,
// which every app has unless it says otherwise, is 300 of them, and what stands around the routes 400; what a span needs of a
// request whose application traces or measures is 2,000; that a body in parts lets others have a turn, and that it is told when
// the app stops, 250; that a message is written once for many sockets, and the takers of a socket told apart, 150; that
// nothing of a request is kept by work it leaves behind 130, that whoever cancels an answer has gone, 50, that what is made of
// a body is heard of without a promise, 150; that whatever an application answers by mistake is a 500, and each parameter of a
// path checked, 2,000, that queries and forms are read in one pass, and a client known by its network, 1,500, and that lists of problems end, 150,
// and the net under what a runtime calls, 60. A line for a terminal is 400, and onError 150. What the document says of the API
// as a whole and of credentials is 700 of the last two. That a text may have a schema is 1,900 of all by esbuild, which of a path
// keeps `Path.param`, and with it the readers and writers of shapes, and what runs a schema of another library; what may be wrong with the declaration of a text is 450. That schemas
// of other libraries are taken is 1,900 where JSON is read and written, 800 where it is only written, and 3,300 with the document.
// The codecs of entity tags, dates and ranges are 100 by esbuild, and the answer that becomes another at last 80.
// A sentence for each member of a route that JavaScript gets wrong is 950, one for each argument of a function 420 by esbuild, and
// one for each option of an app and each function that is given 190; of a typed client it is 30.
// A body with a `Content-Encoding`, refused or given to what reads it, is 270, and 150 more in the document.
// What is released after an answer, what runs after it and the answer that waits for a commit is 1,200; an answer that may be a page of
// templates is 200. That work of the application's own is a stopping app's too is 100,
// and that a refusal may be in another language 120; a language with the table of sentences is 7,200, where one is imported.
// JSON lines that are sent are 370 by esbuild, and 100 more with the document. Several subprotocols of a socket, and the settings of its
// compression, are 350. Deadlines are 2,450, and 75 of a typed client. The bounds under overload are 1,100, a request with an idempotency
// key 300, and the sentences of sign-in, keys and tokens in a language 600. What waits for a body without a closure is 20, and the name of a credential 20.
// A query in `Path.url` is 150 by esbuild, and what it refuses 110. The close code of a socket that ended is 100. What two sentences of errors say to do next is 30, and what a 415 tells the log 30.
// A stream that is read for an idempotency key before a commit is 50, and with the document the 412 of a GET and the old name of gzip are 40.
// What the errors of wrong routes, inputs and answers say to do next is 360. What a late answer does to an idempotency key is 40.
// That promises nobody awaits end no process, and that what a shape has read is written whole, is 400, and the same in the document 200.
// What more start messages say to write is 150; that no tracer or meter fails a request, and that a stream ends before what it uses is released, is 120.
// That a context lets go of its exchange is 70. That a refusal that a list of tools reads is kept is 50.
// That a log line is there for a message that is no text is 20. That a stream of Node's which is not sent is closed, and one that an answer
// replaces is let go, is 280; a body that is chosen by what was acquired is 70, and a socket that is kept while a long message is sent 50.
// That the id of an event that comes back is UTF-8 is 70 where a header is read, and what a format does to a 426 10.
// That a server which stops says how many requests it refused is 30.
// That what is stored of a late answer is waited for is 40.
// That a body which other code has read is refused is 40.
// That a union and an intersection are read and written whole, each value once, and JSON in a text like a body, is 440, and what the document says of null 120.
// That an AbortError of Node's is the deadline's is 20, that a stream is held to its length 90, and that a socket gives others a turn 30.
// That a call which `clientGone` ended is a 499 is 130, that a member which no route has is refused 90, and that a request with an invalid host is refused 290.
// That error lines have the context of the work that threw, that fields which throw lose no line, and a span that is suppressed none of its own, is 150; that a bind's form is read once 60.
const ceilings = [
  { name: "hello world", program: hello, bundler: "rolldown", bundle: withRolldown, most: 38_320 },
  { name: "hello world", program: hello, bundler: "esbuild", bundle: withEsbuild, most: 60_010 },
  { name: "a path", program: path, bundler: "rolldown", bundle: withRolldown, most: 150 },
  { name: "a path", program: path, bundler: "esbuild", bundle: withEsbuild, most: 19_790 },
  { name: "hello world in German", program: german, bundler: "rolldown", bundle: withRolldown, most: 46_860 },
  { name: "a JSON route", program: order, bundler: "rolldown", bundle: withRolldown, most: 54_880 },
  { name: "a JSON route", program: order, bundler: "esbuild", bundle: withEsbuild, most: 63_890 },
];

describe("bytes of a bundle", () => {
  // The page's own reader is 18,000, in a chunk that is loaded when its script is first asked for; esbuild in one file has it.
  // Scalar's script is a million: what reads it from a file is not followed. 350 are for two readers and not one, 40 for a schema that is an alias of its part.
  it.each([
    { bundler: "rolldown", bundle: withRolldown, most: 71_440 },
    { bundler: "esbuild in chunks", bundle: withSplitEsbuild, most: 79_990 },
    { bundler: "esbuild", bundle: withEsbuild, most: 97_560 },
  ])("an app that serves its API document by $bundler is at most $most", async ({ bundler, bundle, most }) => {
    const code = await bundle(documented);
    const bytes = gzipSync(code).length;
    console.log(`an app that serves its API document by ${bundler}: ${bytes} bytes gzipped`);
    expect(bytes).toBeLessThanOrEqual(most);
    expect(code.match(/["'`]node:(?!async_hooks)\w+/)).toBeNull();
  });

  it.each(ceilings)("$name by $bundler is at most $most", async ({ name, program, bundler, bundle, most }) => {
    const code = await bundle(program);
    const bytes = gzipSync(code).length;
    console.log(`${name} by ${bundler}: ${bytes} bytes gzipped, ${Buffer.byteLength(code)} minified`);
    expect(bytes).toBeLessThanOrEqual(most);
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

const bundlers = { rolldown: withRolldown, esbuild: withEsbuild, "esbuild in chunks": withSplitEsbuild };

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

describe("bytes of a typed client", () => {
  // What a page loads at once. Forms, lines (400 bytes, and 20 at once), text and streams of events are a chunk of their own, which is loaded when a call first
  // has one; in one chunk esbuild has it all. The front door brings 120 bytes at most: the guide says that
  // both entries have one size. That many calls listen to one signal by one listener is 110, and that a stream waits for Retry-After 50.
  it.each([
    { entry: "usher-http/client", imported: "* as Client", bundler: "rolldown", most: 1_250 },
    { entry: "usher-http/client", imported: "* as Client", bundler: "esbuild in chunks", most: 1_300 },
    { entry: "usher-http/client", imported: "* as Client", bundler: "esbuild", most: 4_030 },
    { entry: "usher-http", imported: "{ Client }", bundler: "rolldown", most: 1_260 },
    { entry: "usher-http", imported: "{ Client }", bundler: "esbuild in chunks", most: 1_420 },
    { entry: "usher-http", imported: "{ Client }", bundler: "esbuild", most: 4_040 },
  ] as const)("of $entry by $bundler are at most $most", async ({ entry, imported, bundler, most }) => {
    const program = `import ${imported} from "${entry}"; export const api = Client.of({ baseUrl: "" });`;
    const bytes = gzipSync(await bundlers[bundler](program)).length;
    console.log(`a typed client of ${entry} by ${bundler}: ${bytes} bytes gzipped`);
    expect(bytes).toBeLessThanOrEqual(most);
    expect(bytes).toBeGreaterThan(500);
  });

  it.each(["rolldown", "esbuild in chunks"] as const)(
    "by %s make an ordinary call with no second one",
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

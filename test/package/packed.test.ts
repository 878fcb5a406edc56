import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compilerOptions, oldest } from "./compilers.ts";
import type * as TypeScript from "./consumer/node_modules/typescript/lib/typescript.js";
import { pack, root } from "./packed.ts";
import type { Packed } from "./packed.ts";
import { program, undeclared as sentence, worker } from "./readme.ts";

const run = promisify(execFile);
const typescript5 = createRequire(import.meta.url)(oldest) as typeof TypeScript;

describe("the packed package", () => {
  let packed: Packed;
  beforeAll(() => {
    packed = pack();
  });
  afterAll(() => packed.remove());

  it("has no script that an installation runs, or warns about", () => {
    const manifest = readFileSync(join(packed.folder, "node_modules/usher-http/package.json"), "utf8");
    const { scripts } = JSON.parse(manifest) as { readonly scripts: { readonly [name: string]: string } };
    const run = Object.keys(scripts).filter((name) => /^(?:pre|post)?(?:install|prepare)$|^prepublish$/.test(name));
    expect(run).toEqual([]);
  });

  it("serves, answers and stops", async () => {
    const { stdout } = await run(process.execPath, ["serve.mjs"], { cwd: packed.folder });
    expect(JSON.parse(stdout)).toEqual([200, "hi", 200, '{"item":"pen"}', 0]);
  });

  it("has a command line that generates a client", async () => {
    writeFileSync(
      join(packed.folder, "routes.mjs"),
      'import { Path, Returns, get } from "usher-http";\n' +
        'export const routes = [get(Path.of("hi"), { returns: Returns.text }, () => "hi")];\n',
    );
    const usher = join(packed.folder, "node_modules/usher-http/dist/cli.js");
    const { stdout } = await run(process.execPath, [usher, "routes", "routes.mjs"], { cwd: packed.folder });
    expect(stdout).toMatch(/^GET +\/hi +200 text$/m);
    const another = run(process.execPath, [join(root, "dist/cli.js"), "routes", "routes.mjs"], {
      cwd: packed.folder,
    });
    await expect(another).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("uses another copy of usher-http"),
    });
    await run(process.execPath, [usher, "client", "routes.mjs", "-o", "client.ts"], { cwd: packed.folder });
    const compilerOptions = {
      module: "nodenext",
      target: "es2023",
      lib: ["es2023", "dom"],
      types: [],
      strict: true,
      noEmit: true,
    };
    expect(await compile(typescript7.path, { compilerOptions, files: ["client.ts"] })).toBe("");
  });

  it("compiles the README's programs, and gives the README's error for an undeclared refusal", async () => {
    const undeclared = program.replace(", refuses: [soldOut]", "");
    expect(undeclared).not.toBe(program);
    writeFileSync(join(packed.folder, "server.ts"), program);
    writeFileSync(join(packed.folder, "worker.ts"), worker);
    writeFileSync(join(packed.folder, "undeclared.ts"), undeclared);
    const files = ["server.ts", "worker.ts", "undeclared.ts"];
    const errors = await compile(typescript7.path, { compilerOptions, files });
    expect(errors.split("\n").filter((line) => line.includes("error"))).toEqual([
      expect.stringMatching(/undeclared\.ts\(11,/),
    ]);
    expect(sentence).not.toBe("");
    expect(errors).toContain(sentence);
  });

  const typescript7 = { compiler: "TypeScript 7", path: "node_modules/typescript" };
  const ways = [
    { ...typescript7, module: "nodenext", moduleResolution: "nodenext" },
    { ...typescript7, module: "preserve", moduleResolution: "bundler" },
  ];
  const strictest = {
    target: "es2023",
    lib: ["es2023"],
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  };

  it("needs Node's types only for its Node entry", async () => {
    writeFileSync(
      join(packed.folder, "portable.ts"),
      'import { App } from "usher-http";\nexport const app = App.make([]);\n',
    );
    const compilerOptions = {
      module: "nodenext",
      target: "es2023",
      lib: ["es2023", "dom"],
      types: [],
      strict: true,
      noEmit: true,
    };
    expect(await compile(typescript7.path, { compilerOptions, files: ["portable.ts"] })).toBe("");
  });

  it.each(ways)(
    "compiles with $compiler and $moduleResolution resolution",
    async ({ path, module, moduleResolution }) => {
      const compilerOptions = { ...strictest, module, moduleResolution };
      expect(await compile(path, { compilerOptions, files: ["program.ts"] })).toBe("");
    },
  );

  // It takes 16 s of processor time to check the declarations of Valibot, too: TypeScript 7 has checked them.
  it("compiles with TypeScript 5.9, and so do all of its declarations", () => {
    const settings = { ...strictest, module: "nodenext", moduleResolution: "nodenext" };
    const { options, errors } = typescript5.convertCompilerOptionsFromJson(settings, packed.folder);
    const compiled = typescript5.createProgram([join(packed.folder, "program.ts")], options);
    const isOwn = (path: string) => path.startsWith(packed.folder);
    const own = compiled.getSourceFiles().filter(({ fileName }) => isOwn(fileName));
    const names = own.map(({ fileName }) => fileName.slice(packed.folder.length));
    expect(names).toEqual(expect.arrayContaining(["/program.ts", "/node_modules/usher-http/dist/index.d.ts"]));
    const all = [
      ...errors,
      ...compiled.getOptionsDiagnostics(),
      ...compiled.getGlobalDiagnostics(),
      ...own.flatMap((file) => [...compiled.getSyntacticDiagnostics(file), ...compiled.getSemanticDiagnostics(file)]),
    ];
    expect(all.map(({ messageText }) => typescript5.flattenDiagnosticMessageText(messageText, "\n"))).toEqual([]);
  });

  /** The compiler's errors of a project that uses the package. */
  async function compile(typescript: string, project: object): Promise<string> {
    writeFileSync(join(packed.folder, "tsconfig.json"), JSON.stringify(project));
    const tsc = run(process.execPath, [join(root, typescript, "bin/tsc"), "-p", packed.folder]);
    const { stdout } = await tsc.catch((error: { stdout: string }) => error);
    return stdout;
  }
});

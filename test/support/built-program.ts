/**
 * Programs that tests start, from the sources, each as one file. A new Node takes 0.64 s of processor time to strip the types of
 * all sources and to load them, and 0.14 s to load that file; Bun takes 0.11 s and 0.07 s.
 */
import { basename, dirname, join, relative } from "node:path";
import { build } from "esbuild";
import { programMadeOnce } from "./run-folder.ts";

const tests = dirname(import.meta.dirname);
const built = new Map<string, Promise<string>>();

/** The path of the file that a program became: once in each run, as each process that bundles takes 0.4 s of processor time. */
export function builtProgram(program: string): Promise<string> {
  let file = built.get(program);
  if (file === undefined) built.set(program, (file = make(program)));
  return file;
}

async function make(program: string): Promise<string> {
  const name = relative(tests, program).replaceAll("/", "+");
  const folder = await programMadeOnce(name, (outdir) => bundle(program, outdir));
  return join(folder, basename(program).replace(/\.\w+$/, ".mjs"));
}

async function bundle(program: string, outdir: string): Promise<void> {
  await build({
    entryPoints: [program],
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // What is imported late stays apart.
    splitting: true,
    format: "esm",
    platform: "node",
    target: "es2023",
    // Bun has one of its own.
    external: ["ws", "bun:*"],
    // `redis` is not all of ES modules. To load its 400 files takes each process 0.2 s.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "silent",
  });
}

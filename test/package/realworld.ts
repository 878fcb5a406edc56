/** The RealWorld example in a project of its own, which has the packed package: its sources, run by each runtime. */
import { execFile } from "node:child_process";
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { runtimes } from "../support/runtimes.ts";
import { pack, root } from "./packed.ts";
import { startProgram } from "./start-example.ts";
import type { RunningExample } from "./start-example.ts";

const commands = {
  node: () => [runtimes["node-24"](), "main.ts"],
  bun: () => [runtimes.bun(), "main-bun.ts"],
  deno: () => [runtimes.deno(), "run", "--no-check", "--allow-net", "--allow-env", "--allow-read", "main-deno.ts"],
};
export const jwtSecret = "s".repeat(32);

export type Runtime = keyof typeof commands;

export interface RealWorld {
  /** Starts it by a runtime, on an empty database. */
  start(runtime: Runtime, databaseUrl: string): Promise<RunningExample>;
  /** What the compiler says of it, and of the declarations that others would import. */
  compile(): Promise<string>;
  remove(): void;
}

export function installRealWorld(): RealWorld {
  const { folder, remove } = pack();
  for (const name of ["jose", "postgres"]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  const program = join(folder, "realworld");
  cpSync(join(root, "examples/realworld"), program, { recursive: true });
  return {
    start(runtime, databaseUrl) {
      const command = commands[runtime]();
      const main = join(program, command.at(-1) ?? "");
      return startProgram([...command.slice(0, -1), main], { DATABASE_URL: databaseUrl, JWT_SECRET: jwtSecret });
    },
    async compile() {
      const compilerOptions = {
        module: "nodenext",
        target: "es2023",
        lib: ["es2023"],
        types: ["node"],
        strict: true,
        skipLibCheck: false,
        allowImportingTsExtensions: true,
        declaration: true,
        emitDeclarationOnly: true,
        outDir: "declared",
      };
      writeFileSync(join(program, "tsconfig.json"), JSON.stringify({ compilerOptions }));
      const tsc = join(root, "node_modules/typescript/bin/tsc");
      // More threads would each look at the types of the package.
      const compiled = promisify(execFile)(process.execPath, [tsc, "-p", program, "--singleThreaded"]);
      return (await compiled.catch((error: { stdout: string }) => error)).stdout;
    },
    remove,
  };
}

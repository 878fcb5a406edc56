import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { programMadeOnce } from "../../support/run-folder.ts";
import { bundle, findsPackages } from "./bundle.ts";
import { running } from "./running.ts";
import type { Ports, Target } from "./target.ts";

interface Program {
  readonly program: URL;
  readonly binary: () => string;
  readonly flags?: readonly string[];
}

/** A target whose server is a process of its runtime's binary, which runs a program and serves every configuration. */
export function processTarget(name: string, { program, binary, flags = [] }: Program): Target {
  let file: Promise<string> | undefined;
  return {
    name,
    async start(only) {
      file ??= written(program);
      const args = [...flags, await file, JSON.stringify(only ?? null)];
      const child = spawn(binary(), args, { stdio: ["ignore", "pipe", "pipe"] });
      return running(name, child, child.stdout, (line) => JSON.parse(line) as Ports);
    },
  };
}

/** One file for all processes that run a program: Deno compiles it once. */
async function written(program: URL): Promise<string> {
  const folder = await programMadeOnce(`conformance+${basename(program.pathname)}`, async (own) => {
    findsPackages(own);
    writeFileSync(join(own, "program.mjs"), await bundle(program));
  });
  return join(folder, "program.mjs");
}

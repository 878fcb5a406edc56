import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { madeOnce } from "../../support/run-folder.ts";
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
      file ??= bundle(program).then((code) => writtenOnce(code));
      const args = [...flags, await file, JSON.stringify(only ?? null)];
      const child = spawn(binary(), args, { stdio: ["ignore", "pipe", "pipe"] });
      return running(name, child, child.stdout, (line) => JSON.parse(line) as Ports);
    },
  };
}

let written = 0;

/** One file for all of a target's processes: Deno compiles it once. */
function writtenOnce(code: string): string {
  const path = madeOnce(`conformance-${process.pid}-${++written}`, (folder) => {
    findsPackages(folder);
    writeFileSync(join(folder, "program.mjs"), code);
  });
  return join(path, "program.mjs");
}

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundle, folder } from "./bundle.ts";
import { running } from "./running.ts";
import type { Alone, Ports, Running, Target } from "./target.ts";

interface Program {
  readonly program: URL;
  readonly binary: () => string;
  readonly flags?: readonly string[];
}

/** A target whose server is a process of its runtime's binary, which runs a program and serves every configuration. */
export function processTarget(name: string, { program, binary, flags = [] }: Program): Target {
  let code: Promise<string> | undefined;
  return {
    name,
    async start(only) {
      code ??= bundle(program);
      return startProgram(name, binary(), flags, await code, only);
    },
  };
}

async function startProgram(
  name: string,
  binary: string,
  flags: readonly string[],
  code: string,
  only: Alone | undefined,
): Promise<Running> {
  const files = folder();
  const file = join(files.path, "program.mjs");
  writeFileSync(file, code);
  const child = spawn(binary, [...flags, file, JSON.stringify(only ?? null)], { stdio: ["ignore", "pipe", "pipe"] });
  child.once("close", files.remove);
  return running(name, child, child.stdout, (line) => JSON.parse(line) as Ports);
}

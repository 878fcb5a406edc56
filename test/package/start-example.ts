import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** An example that runs as its users run it: what was built, in a process of its own. */
export interface RunningExample {
  /** Where it listens: `http://localhost:41253`. */
  readonly url: string;
  /** The folder of its data. */
  readonly data: string;
  /** What it has logged so far. */
  readonly lines: readonly string[];
  /** Sends it a signal and waits for its end. @returns its exit code; null where a signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `examples/<name>` on a free port, with data of its own, and waits until it listens. */
export function startExample(name: string, env: NodeJS.ProcessEnv = {}): Promise<RunningExample> {
  return startProgram([process.execPath, join(import.meta.dirname, `../../dist/examples/${name}/main.js`)], env);
}

/** Starts a program as `startExample` does: its command, and its additional environment variables. */
export async function startProgram(
  [binary = "", ...args]: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd: string = process.cwd(),
): Promise<RunningExample> {
  const folder = mkdtempSync(join(tmpdir(), "usher-example-"));
  const child = spawn(binary, args, {
    cwd,
    env: { ...process.env, PORT: "0", DATA_DIR: folder, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  // Closed, and not merely ended: what it logged last has been read then.
  const ended = once(child, "close");
  const lines: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on("line", (line) => {
      lines.push(line);
      const listening = /listening on (http:\/\/[^\s"]+)/.exec(line);
      if (listening?.[1] !== undefined) resolve(listening[1]);
    });
    child.once("exit", () => reject(new Error(`${args.at(-1)} ended before it listened:\n${lines.join("\n")}`)));
    child.once("error", reject);
  });
  return {
    url,
    data: env["DATA_DIR"] ?? folder,
    lines,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      const [code] = (await ended) as [number | null];
      rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
}

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Ports, Running } from "./target.ts";

/** Waits until a process serves, which it tells by the first line that `portsOf` reads ports from. */
export async function running(
  name: string,
  child: ChildProcess,
  telling: Readable,
  portsOf: (line: string) => Ports | undefined,
): Promise<Running> {
  const said: string[] = [];
  let how: number | string | undefined;
  const waiting: (() => void)[] = [];
  const wake = (): void => {
    for (const go of waiting.splice(0)) go();
  };
  // A Worker's lines are on both.
  for (const output of [child.stderr, child.stdout]) {
    if (output === null || output === telling) continue;
    createInterface(output).on("line", (line) => {
      said.push(line);
      wake();
    });
  }
  // Closed, and not only ended: its last output has been read then.
  const ended = once(child, "close").then(([code, signal]: (number | string | null)[]) => {
    how = code ?? signal ?? "nothing";
    wake();
    return how;
  });
  // Of a server that runs on, what it complains of; its access lines are many.
  const lastWords = (): string => {
    if (how === undefined)
      return said
        .filter((line) => !line.includes('"level":"info"'))
        .slice(-2)
        .join("\n");
    return `${name} ended with ${how}; the last that it said:\n${said.slice(-20).join("\n")}`;
  };
  const ports = await new Promise<Ports>((resolve, reject) => {
    createInterface(telling).on("line", (line) => {
      const ports = portsOf(line);
      if (ports !== undefined) resolve(ports);
    });
    child.once("error", reject);
    void ended.then(() => reject(new Error(`${name} did not start: ${lastWords()}`)));
  });
  return {
    ports,
    pid: child.pid as number,
    complaints: () => said.filter((line) => !line.startsWith("{") || line.includes('"level":"error"')),
    async logged(text) {
      for (let read = 0; ; read++) {
        while (read >= said.length) {
          if (how !== undefined) throw new Error(`it ended and never logged ${text}`);
          await new Promise<void>((resolve) => {
            waiting.push(resolve);
          });
        }
        if (said[read]?.includes(text) === true) return;
      }
    },
    lastWords,
    signal: (signal) => void child.kill(signal),
    ended: () => ended,
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

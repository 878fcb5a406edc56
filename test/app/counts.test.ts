/**
 * Counts the work of a warm request. The counts are the same on every machine, so a change that makes requests more expensive
 * fails here; a measured time would show it only on a quiet machine.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { builtProgram } from "../support/built-program.ts";
import { runtimes } from "../support/runtimes.ts";

interface Counts {
  /** Calls of functions of the framework and of Valibot. */
  readonly functions: number;
  /** Promises that are created, also by Node. */
  readonly promises: number;
  /** Bytes that are allocated on the heap, also by Node and by the test's client. */
  readonly bytes: number;
}

type ByMethod = Readonly<Record<"get" | "post", Counts>>;

// These may only fall. A change that makes a request do less writes the new counts here; the test prints them. Six functions of
// `fetch` check the host that a runtime put into the URL, and five of Node bound what is pipelined and what waits for the client. With lines, 700
// bytes are a store for an `out` that logs, and four functions read the scheme. Two of every POST make and read the record of its body,
// which a request without one has not. Two of a GET and five of a POST ask what is read and what is written of a connection, each its owner.
const ceilings: readonly (readonly [over: string, lines: string, max: ByMethod])[] = [
  [
    "fetch",
    "off",
    {
      get: { functions: 150, promises: 5, bytes: 12_330 },
      post: { functions: 231, promises: 19, bytes: 22_130 },
    },
  ],
  [
    "node",
    "off",
    {
      get: { functions: 164, promises: 0, bytes: 7520 },
      post: { functions: 268, promises: 0, bytes: 10_000 },
    },
  ],
  [
    "node",
    "line",
    {
      get: { functions: 203, promises: 0, bytes: 10_400 },
      post: { functions: 310, promises: 0, bytes: 13_400 },
    },
  ],
];
// Versions of V8 allocate slightly different amounts.
const maxByteRatio = 1.05;

const source = join(import.meta.dirname, "counts", "program.ts");
// No garbage is collected while bytes are counted, and no code is compiled late on a busy machine: code that V8 has not
// optimized yet allocates more.
const flags = [
  "--no-warnings",
  "--expose-gc",
  "--no-concurrent-recompilation",
  "--min-semi-space-size=128",
  "--max-semi-space-size=128",
];

async function count(...args: readonly string[]): Promise<ByMethod> {
  const program = await builtProgram(source);
  const { stdout } = await promisify(execFile)(runtimes["node-24"](), [...flags, program, ...args]);
  return JSON.parse(stdout) as ByMethod;
}

function isOver(counted: ByMethod, max: ByMethod): boolean {
  return (["get", "post"] as const).some((method) => counted[method].bytes > max[method].bytes * maxByteRatio);
}

describe("a warm request does no more work than before", () => {
  it.each(ceilings)("over %s, with lines %s", async (over, lines, max) => {
    let counted = await count(over, lines);
    // A busy machine only adds bytes: the smallest of three runs is the program's own.
    for (let again = 0; again < 2 && isOver(counted, max); again++) counted = await count(over, lines);
    for (const method of ["get", "post"] as const) {
      const { functions, promises, bytes } = counted[method];
      const name = `${over} ${method}, lines ${lines}`;
      console.log(`${name}: ${functions} functions, ${promises} promises, ${Math.round(bytes)} bytes`);
      // A timer of the listener may run among a thousand requests.
      expect.soft(Math.round(functions), `${name}: functions called`).toBeLessThanOrEqual(max[method].functions);
      expect.soft(Math.round(promises), `${name}: promises made`).toBeLessThanOrEqual(max[method].promises);
      const ratio = bytes / max[method].bytes;
      expect.soft(ratio, `${name}: ${Math.round(bytes)} bytes allocated`).toBeLessThanOrEqual(maxByteRatio);
    }
  });
});

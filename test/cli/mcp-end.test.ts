/** How `usher mcp` ends: with its input, or by a signal, while calls run. */
import { spawn } from "node:child_process";
import { on, once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { programRuntimes, runtimes } from "../support/runtimes.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "usher-mcp-end-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "routes.mjs");
writeFileSync(
  file,
  `import { Dep, Event, Meta, Path, Returns, after, get } from ${JSON.stringify(pathToFileURL(join(root, "dist/index.js")).href)};
const { setTimeout } = globalThis;
// Where a test says so, calls are cancelled at the end of the input, and not 10 s later.
if (process.env.HURRIES) globalThis.setTimeout = (act, ms, ...args) => setTimeout(act, ms === 10_000 ? 1 : ms, ...args);
const tick = Event.text("tick");
const held = Dep.scoped({}, () => undefined, () => console.error("released"));
const wait = () => {
  console.error("begun");
  return new Promise(() => {});
};
export const routes = [
  get(Path.of("waits"), { meta: Meta.tool({ name: "waits" }), returns: Returns.text }, wait),
  get(Path.of("ticks"), { meta: Meta.tool({ name: "ticks", events: "progress" }), inputs: { held }, returns: Returns.events([tick]) },
    () => async (send) => {
      await send(Event.make(tick, "one"));
      await wait();
    }),
  get(Path.of("slow"), { meta: Meta.tool({ name: "slow" }), inputs: { after }, returns: Returns.text }, ({ after }) => {
    after(() => new Promise((resolve) => setTimeout(resolve, 20)).then(() => console.error("after")));
    return new Promise((resolve) => setTimeout(() => resolve("done"), 20));
  }),
];
`,
);

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  progressToken: 1,
};
const callOf = (name: string) =>
  `${JSON.stringify({ jsonrpc: "2.0", id: name, method: "tools/call", params: { name, _meta: meta } })}\n`;

function started(runtime: keyof typeof runtimes, env: NodeJS.ProcessEnv = {}) {
  const before = runtime === "deno" ? ["run", "-A"] : [];
  const child = spawn(runtimes[runtime](), [...before, join(root, "dist/cli.js"), "mcp", file], {
    env: { ...process.env, ...env },
  });
  const [out, errors, exited] = [text(child.stdout), text(child.stderr), once(child, "exit")];
  /** Waits until one more call says so. */
  const begun = async () => {
    for await (const [part] of on(child.stderr, "data")) if (String(part).includes("begun")) return;
  };
  return { child, out, errors, exited, begun };
}

describe.each(programRuntimes)("usher mcp on %s", (runtime) => {
  it("answers a call after its input has ended, and waits for tasks after the answer", async () => {
    const { child, out, errors, exited } = started(runtime);
    child.stdin.end(callOf("slow"));
    expect(await exited).toEqual([0, null]);
    expect(await out).toContain('"text":"done"');
    expect(await errors).toBe("after\n");
  });

  it("cancels calls that do not end", async () => {
    const { child, out, errors, exited, begun } = started(runtime, { HURRIES: "1" });
    child.stdin.write(callOf("waits"));
    await begun();
    child.stdin.write(callOf("ticks"));
    await begun();
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
    expect(await errors).toBe("begun\nbegun\nreleased\n");
    expect(await out).not.toContain("result");
  });

  it.each([
    ["SIGTERM", false],
    ["SIGINT", true],
  ] as const)("cancels calls at %s, also after the end of its input: %s", async (signal, isEnded) => {
    const { child, errors, exited, begun } = started(runtime);
    child.stdin.write(callOf("ticks"));
    await begun();
    if (isEnded) child.stdin.end();
    child.kill(signal);
    expect(await exited).toEqual([0, null]);
    expect(await errors).toBe("begun\nreleased\n");
  });
});

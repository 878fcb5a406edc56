/** The official conformance tests of the Model Context Protocol, on each runtime. */
import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { builtProgram } from "../../support/built-program.ts";
import { runtimes } from "../../support/runtimes.ts";
import { workerOf } from "../../support/miniflare.ts";
import { rows } from "../../support/wide.ts";

const conformance = join(import.meta.dirname, "../../../node_modules/@modelcontextprotocol/conformance/dist/index.js");
const asksItsClient = "a route answers, and asks its client for nothing";
const ofItsClient = ["basic-elicitation", "basic-sampling", "basic-list-roots", "request-state"];
const ofRounds = ["multiple-input-requests", "multi-round", "non-tool-request", "result-type", "tampered-state"];

/** The scenarios that do not pass: the number of failed checks, and the reason. */
const failing: { readonly [scenario: string]: readonly [failed: number, why: string] } = {
  "completion-complete": [1, "no route says how a text that is half written may end"],
  "tools-call-mixed-content": [1, "an answer has one body, and so one kind of content"],
  // Two for a tool that needs a capability of its client, and one for a tool that asks its client in a stream.
  "server-stateless": [3, asksItsClient],
  ...Object.fromEntries(
    [...ofItsClient, ...ofRounds, "capability-check"].map((name) => [
      `input-required-result-${name}`,
      [1, asksItsClient],
    ]),
  ),
};

/** The failures of the scenarios that the version requires; those of extensions are not included. */
async function failedAt(port: string): Promise<object> {
  const given = [conformance, "server", "--url", `http://127.0.0.1:${port}/mcp`, "--requirements", "2026-07-28"];
  // The package needs a newer Node than the oldest that tests run on. It ends with 1 if anything fails.
  const out = await new Promise<string>((resolve) => {
    execFile(runtimes.bun(), given, (_error, stdout) => resolve(stdout));
  });
  const [, summary = "", notRequired = ""] = out.split(/=== SUMMARY ===|Not scored for/);
  const lines = [...summary.matchAll(/[✓✗] (\S+): (\d+) passed, (\d+) failed/g)];
  expect(lines.length).toBeGreaterThan(30);
  const required = lines.filter(([, name]) => !notRequired.includes(` ${name} (`));
  return Object.fromEntries(required.flatMap(([, name, , failed]) => (failed === "0" ? [] : [[name, Number(failed)]])));
}

async function conforms(port: string): Promise<void> {
  const expected = Object.fromEntries(Object.entries(failing).map(([name, [count]]) => [name, count]));
  expect(await failedAt(port)).toEqual(expected);
}

describe("it conforms to the version", () => {
  const servers = rows<readonly [name: string, command: readonly string[]]>(
    [["Node", [process.execPath]]],
    [
      ["Bun", [runtimes.bun()]],
      ["Deno", [runtimes.deno(), "run", "-A"]],
    ],
  );
  it.each(servers)("on %s", async (_name, [command = "", ...args]) => {
    const program = await builtProgram(join(import.meta.dirname, "conformance-program.ts"));
    const server = spawn(command, [...args, program], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const port = await new Promise<string>((resolve, reject) => {
        server.stdout.on("data", (data: Buffer) => resolve(/listening (\d+)/.exec(String(data))?.[1] ?? ""));
        server.once("exit", () => reject(new Error("the server ended")));
      });
      await conforms(port);
    } finally {
      server.kill();
    }
  });

  it("on Workers", async () => {
    const program = `
      import { worker } from "usher-http/workers";
      import { conformanceRoutes } from "./conformance-routes.ts";
      export default worker(conformanceRoutes);
    `;
    const miniflare = await workerOf(program, import.meta.dirname, {
      // It prints a stack for each stream that a client leaves.
      handleRuntimeStdio: (stdout, stderr) => {
        stdout.resume();
        stderr.resume();
      },
    });
    try {
      await conforms((await miniflare.ready).port);
    } finally {
      await miniflare.dispose();
    }
  });
});

/** The error of a program that lacks a package: only `valibot` and OpenTelemetry's API are installed with the packed one. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { programRuntimes, runtimes } from "../support/runtimes.ts";
import { pack, root } from "./packed.ts";
import type { Packed } from "./packed.ts";

const run = promisify(execFile);

/** The packages that a call of the package imports: where one is missing, the rejection names the command. */
const calls = [
  {
    entry: "postgres",
    call: 'Pool.create("postgres://me@127.0.0.1:1/none")',
    maker: "Pool.create",
    wanted: "postgres@3.4",
  },
  {
    entry: "postgres",
    call: 'relay("postgres://me@127.0.0.1:1/none", { channel: "a" })',
    maker: "relay",
    wanted: "postgres@3.4",
  },
  {
    entry: "postgres",
    call: 'migrate("postgres://me@127.0.0.1:1/none", { directory: "." })',
    maker: "migrate",
    wanted: "postgres@3.4",
  },
  { entry: "redis", call: 'rateStore("redis://127.0.0.1:1")', maker: "rateStore", wanted: "redis" },
  { entry: "redis", call: 'idempotencyStore("redis://127.0.0.1:1")', maker: "idempotencyStore", wanted: "redis" },
  { entry: "redis", call: 'relay("redis://127.0.0.1:1", { channel: "a" })', maker: "relay", wanted: "redis" },
] as const;

const socket = `
import { Path, Returns, Socket, get } from "usher-http";
import { serve } from "usher-http/node";
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const route = get(Path.of("echo"), { returns: Returns.websocket(texts) }, () => async () => {});
await serve([route], { port: 0 });
`;

/**
 * Each function of these entries uses the package, most of them where the program starts, and a bundler drops what is not used of a static
 * import alone. So Node's own error is left, which names the package and not the command: guides/node.md has it.
 */
const imported = ["jose", "oauth4webapi"];
/** A program imports these itself, or their types alone are used; or a log line or `App.make` names them: the tests of `telemetry` and `openapi`. */
const others = [
  "@opentelemetry/exporter-prometheus",
  "@opentelemetry/exporter-trace-otlp-http",
  "@opentelemetry/sdk-metrics",
  "@opentelemetry/sdk-trace",
  "@opentelemetry/sdk-trace-base",
  "@scalar/api-reference",
  "@tanstack/query-core",
  "@whatwg-node/server",
];

let packed: Packed;
beforeAll(() => {
  packed = pack();
});
afterAll(() => packed.remove());

it("each package that may be missing is one of these", () => {
  const manifest = readFileSync(join(root, "package.json"), "utf8");
  const { peerDependenciesMeta } = JSON.parse(manifest) as { readonly peerDependenciesMeta: object };
  const named = calls.map(({ wanted }) => wanted.replace(/@.*/, ""));
  expect([...new Set([...named, "ws", ...imported, ...others])].toSorted()).toEqual(
    Object.keys(peerDependenciesMeta).toSorted(),
  );
});

describe.each([...new Set<(typeof programRuntimes)[number]>(["node-oldest", ...programRuntimes])])("%s", (runtime) => {
  const flags = runtime === "deno" ? ["run", "--no-config", "--node-modules-dir=manual", "--allow-all"] : [];

  async function output(program: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
    const file = join(packed.folder, `${runtime}.mjs`);
    writeFileSync(file, program);
    const running = run(runtimes[runtime](), [...flags, file], { cwd: packed.folder });
    return running.catch((error: { readonly stdout: string; readonly stderr: string }) => error);
  }

  it("each call names the command", async () => {
    const tried = calls.map(({ entry, call }) => {
      const name = /^\w+/.exec(call)?.[0];
      return `await import("usher-http/${entry}").then(({ ${name} }) => ${call}).catch(({ message }) => message)`;
    });
    const { stdout } = await output(`console.log(JSON.stringify([${tried.join(",\n")}]))`);
    expect(JSON.parse(stdout)).toEqual(
      calls.map(({ maker, wanted }) => {
        const name = wanted.replace(/@.*/, "");
        return `${maker} needs the package ${name}, which is not installed: npm install ${wanted}`;
      }),
    );
  });

  // Bun has a `ws` of its own.
  it.skipIf(runtime === "bun")("a server whose route opens a WebSocket names the command", async () => {
    const { stderr } = await output(socket);
    expect(stderr).toContain(
      "usher-http/node: a route that opens a WebSocket needs the package ws, which is not installed: npm install ws",
    );
  });

  it.each([
    ["jwt", "jose"],
    ["oidc", "oauth4webapi"],
  ])("the runtime names what usher-http/%s imports, %s", async (entry, name) => {
    const { stderr } = await output(`import "usher-http/${entry}";`);
    expect(stderr).toMatch(new RegExp(`["']${name}["']`));
  });
});

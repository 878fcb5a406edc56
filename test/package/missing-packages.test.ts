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
  { entry: "jwt", call: 'Jwt.publicKeys(["{}"])', maker: "Jwt.publicKeys", wanted: "jose" },
] as const;

/** What no program may wait for: the program ends, although it serves. */
const starts = [
  {
    entry: "jwt",
    call: 'Jwt.bearer({ issuer: "a", audience: "b", keys: Jwt.jwks("https://a.example/"), algorithms: ["ES256"] })',
    maker: "Jwt.bearer",
    wanted: "jose",
  },
  {
    entry: "oidc",
    call: 'Oidc.issuer("https://a.example", { clientId: "shop" })',
    maker: "Oidc.issuer",
    wanted: "oauth4webapi",
  },
] as const;

const socket = `
import { Path, Returns, Socket, get } from "usher-http";
import { serve } from "usher-http/node";
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const route = get(Path.of("echo"), { returns: Returns.websocket(texts) }, () => async () => {});
await serve([route], { port: 0 });
`;

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

interface Output {
  readonly stdout: string;
  readonly stderr: string;
  /** Of a program that failed. */
  readonly code?: number;
}

let packed: Packed;
beforeAll(() => {
  packed = pack();
});
afterAll(() => packed.remove());

it("each package that may be missing is one of these", () => {
  const manifest = readFileSync(join(root, "package.json"), "utf8");
  const { peerDependenciesMeta } = JSON.parse(manifest) as { readonly peerDependenciesMeta: object };
  const named = [...calls, ...starts].map(({ wanted }) => wanted.replace(/@.*/, ""));
  expect([...new Set([...named, "ws", ...others])].toSorted()).toEqual(Object.keys(peerDependenciesMeta).toSorted());
});

describe.each([...new Set<(typeof programRuntimes)[number]>(["node-oldest", ...programRuntimes])])("%s", (runtime) => {
  const flags = runtime === "deno" ? ["run", "--no-config", "--node-modules-dir=manual", "--allow-all"] : [];

  async function output(program: string): Promise<Output> {
    const file = join(packed.folder, `${runtime}.mjs`);
    writeFileSync(file, program);
    const running = run(runtimes[runtime](), [...flags, file], { cwd: packed.folder });
    return running.catch((error: Output) => error);
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

  it.each(starts)(
    "$maker ends the program with the command, although it serves",
    async ({ entry, call, maker, wanted }) => {
      const name = /^\w+/.exec(call)?.[0];
      const result = await output(`
import { ${name} } from "usher-http/${entry}";
import { serve } from "usher-http/node";
${call};
await serve([], { port: 0 });
`);
      expect(result).toMatchObject({ code: 1 });
      expect(result.stderr).toContain(
        `${maker} needs the package ${wanted}, which is not installed: npm install ${wanted}`,
      );
    },
  );
});

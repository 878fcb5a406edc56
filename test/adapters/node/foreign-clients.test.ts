/** Clients and proxies of other languages, with their defaults: Go's net/http, its reverse proxy, Java's HttpClient. */
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Path, Returns, body, get, post } from "usher-http";
import { need } from "../../support/needs.ts";
import { start } from "../../support/node-server.ts";
import "../../support/logs.ts";

const run = promisify(execFile);
const go = need("go; .ci/run --wide installs one", spawnSync("go", ["version"]).status === 0);
const java = need("java and javac; .ci/run --wide installs one", spawnSync("javac", ["-version"]).status === 0);

const routes = [
  get(Path.of("hello"), { returns: Returns.text }, () => "Hello."),
  post(Path.of("echo"), { inputs: { body }, returns: Returns.text }, ({ body }) => new TextDecoder().decode(body)),
];

describe.skipIf(go.isSkipped)(`Go's net/http${go.why}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "usher-go-"));
  const program = join(folder, "program");
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeAll(async () => {
    const env = { ...process.env, GOCACHE: join(folder, "cache"), GOFLAGS: "-mod=mod", GO111MODULE: "off" };
    await run("go", ["build", "-o", program, join(import.meta.dirname, "foreign-program.go")], { env });
  });
  const upload = async (url: string, bytes: number): Promise<readonly number[]> =>
    JSON.parse((await run(program, ["upload", url, "20", String(bytes)])).stdout) as number[];

  /** A reverse proxy in front of a server; its address. */
  async function proxied(url: string): Promise<string> {
    const proxy = spawn(program, ["proxy", url], { stdio: ["pipe", "pipe", "ignore"] });
    onTestFinished(async () => {
      const ended = once(proxy, "exit");
      proxy.stdin.end();
      await ended;
    });
    const [port] = (await once(proxy.stdout, "data")) as [Buffer];
    return `http://127.0.0.1:${Number(port.toString())}`;
  }

  const every = (status: number) => Array.from({ length: 20 }, () => status);

  it("gets each 413 of an upload of 4 MiB, and each 200 of a small one", async () => {
    const { port } = await start(routes, { maxBody: 1024 * 1024 });
    expect(await upload(`http://127.0.0.1:${port}/echo`, 4 * 1024 * 1024)).toEqual(every(413));
    expect(await upload(`http://127.0.0.1:${port}/echo`, 1000)).toEqual(every(200));
  });

  it("gets them through its reverse proxy too", async () => {
    const { port } = await start(routes, { maxBody: 1024 * 1024 });
    const url = await proxied(`http://127.0.0.1:${port}`);
    expect(await upload(`${url}/echo`, 4 * 1024 * 1024)).toEqual(every(413));
    expect(await upload(`${url}/echo`, 1000)).toEqual(every(200));
  });
});

describe.skipIf(java.isSkipped)(`Java's client${java.why}`, () => {
  it("gets each answer though it offers HTTP/2 by an upgrade, with a body too", async () => {
    const { port } = await start(routes);
    const program = join(import.meta.dirname, "ForeignClient.java");
    const { stdout } = await run("java", [program, `http://127.0.0.1:${port}`]);
    const expected = [0, 1, 2].flatMap((i) => ["200 Hello.", `200 sent ${i}`]);
    expect(stdout.trim().split("\n")).toEqual(expected);
  });
});

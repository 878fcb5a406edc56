/** A server of HTTP/2 answers clients of other projects: curl, and `nghttp` and `h2load` of nghttp2. */
import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { Codec, Event, Path, Query, Returns, body, bodyStream, get, post } from "usher-http";
import { need } from "../../support/needs.ts";
import { start } from "../../support/node-server.ts";

const certificates = join(import.meta.dirname, "../postgres/certificates");
const read = (name: string): string => readFileSync(join(certificates, name), "utf8");
const authority = join(certificates, "authority.crt");

const hasVersion = (command: string): boolean => spawnSync(command, ["--version"]).status === 0;
const curl = need("curl; .ci/run installs it", hasVersion("curl"));
const nghttp2 = need("h2load of nghttp2; .ci/run installs it", hasVersion("h2load"));

const Count = Event.text("count");
const length = Query.required("length", Codec.int);
const upload = bodyStream({ max: 64 * 1_048_576 });
const routes = [
  get(Path.of("hello"), { returns: Returns.text }, () => "Hello."),
  get(Path.of("long"), { inputs: { length }, returns: Returns.text }, ({ length }) => "x".repeat(length)),
  post(Path.of("echo"), { inputs: { body }, returns: Returns.text }, ({ body }) => new TextDecoder().decode(body)),
  post(Path.of("digest"), { inputs: { upload }, returns: Returns.text }, async ({ upload }) => {
    const hash = createHash("sha256");
    for await (const part of upload) hash.update(part);
    return hash.digest("hex");
  }),
  get(Path.of("counts"), { returns: Returns.events([Count]) }, () => async (send) => {
    for (let count = 1; count <= 3; count++) await send(Event.make(Count, String(count)));
  }),
];

const folder = mkdtempSync(join(tmpdir(), "usher-http2-clients-"));
afterAll(() => rmSync(folder, { recursive: true }));
const large = join(folder, "large");
const bytes = Buffer.alloc(8 * 1_048_576, "0123456789abcdef");
writeFileSync(large, bytes);

/** The ways to reach a server: without TLS with prior knowledge of HTTP/2, and with TLS by ALPN. */
const ways = [
  ["without TLS", { http2: true }, "http://127.0.0.1", ["--http2-prior-knowledge"]],
  [
    "over TLS",
    { tls: { cert: read("server.crt"), key: read("server.key") }, http2: true },
    "https://localhost",
    ["--http2"],
  ],
] as const;

async function output(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 2 ** 26 });
  return stdout;
}

describe.skipIf(curl.isSkipped).each(ways)(`curl %s${curl.why}`, (_way, options, origin, flags) => {
  const ask = async (path: string, ...args: readonly string[]): Promise<string> => {
    const { port } = await start(routes, options);
    const status = "\n%{http_version} %{http_code}";
    return output("curl", ["-sS", ...flags, "--cacert", authority, "-w", status, ...args, `${origin}:${port}${path}`]);
  };

  it.each([
    ["a text", "/hello", [], "Hello.\n2 200"],
    ["a refusal", "/long?length=x", ["-o", "/dev/null"], "\n2 400"],
    ["a head alone", "/hello", ["-I", "-o", "/dev/null"], "\n2 200"],
    ["a short body", "/echo", ["--data-binary", "words"], "words\n2 200"],
    ["a body that waits for 100", "/echo", ["-H", "expect: 100-continue", "--data-binary", "words"], "words\n2 200"],
    ["8 MiB", "/digest", ["-T", large, "-X", "POST"], `${createHash("sha256").update(bytes).digest("hex")}\n2 200`],
    [
      "a stream of events",
      "/counts",
      ["-N"],
      [1, 2, 3].map((n) => `event: count\ndata: ${n}\n\n`).join("") + "\n2 200",
    ],
  ])("is answered: %s", async (_what, path, args, expected) => {
    expect(await ask(path, ...args)).toBe(expected);
  });

  it("reads 8 MiB slowly", async () => {
    const text = await ask(`/long?length=${bytes.byteLength}`, "--limit-rate", "16M");
    expect(text).toBe(`${"x".repeat(bytes.byteLength)}\n2 200`);
  });
});

describe.skipIf(nghttp2.isSkipped).each(ways)(`nghttp2 %s${nghttp2.why}`, (_way, options, origin) => {
  /** The number of answered requests by their status class. */
  const load = async (...[path, ...args]: readonly string[]): Promise<readonly string[]> => {
    const { port } = await start(routes, options);
    const report = await output("h2load", [...args, `${origin}:${port}${path}`]);
    return report.split("\n").filter((line) => /^(requests|status codes):/.test(line));
  };

  it.each([
    ["a text", "/hello", [], "2xx"],
    ["of 100 KiB", "/long?length=102400", [], "2xx"],
    ["a body", "/echo", ["-d", join(certificates, "server.crt")], "2xx"],
    ["no route", "/nowhere", [], "4xx"],
  ])("h2load: 2,000 requests, 50 at once on each of 4 connections: %s", async (_what, path, args, kind) => {
    const [requests = "", statuses = ""] = await load(path, "-n", "2000", "-c", "4", "-m", "50", ...args);
    expect(requests).toMatch(/ 2000 done, .* 0 errored, 0 timeout$/);
    expect(statuses).toContain(`2000 ${kind}`);
  });

  it("h2load: small windows and short frames", async () => {
    const windows = ["-w", "10", "-W", "16", "--header-table-size=0"];
    const [requests = ""] = await load("/long?length=102400", "-n", "200", "-c", "2", "-m", "20", ...windows);
    expect(requests).toContain("200 done, 200 succeeded, 0 failed, 0 errored");
  });

  it("nghttp: two requests with padding", async () => {
    const { port } = await start(routes, options);
    const asked = [`${origin}:${port}/hello`, `${origin}:${port}/long?length=3`];
    expect(await output("nghttp", ["-b", "200", "--no-verify", ...asked])).toBe("Hello.xxx");
  });
});

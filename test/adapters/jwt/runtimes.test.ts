/** The same tokens on each runtime. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { serverOfFile } from "../../support/http-server.ts";
import { workerOf } from "../../support/miniflare.ts";
import { runtimes } from "../../support/runtimes.ts";
import { claims, pairOf, signed } from "./tokens.ts";

const root = join(import.meta.dirname, "../../..");
const program = join(import.meta.dirname, "program.mjs");
// Bun would serve the default export of a program.
const worker = `
import { appAt, table } from "./program.mjs";
let app;
export default {
  async fetch(request, { URL, TOKEN }) {
    if (request.url.endsWith("/table")) return Response.json(await table(URL, TOKEN));
    app ??= appAt(URL);
    return app.fetch(request);
  },
};`;
let url: string;
let token: string;
let asked = 0;

beforeAll(async () => {
  const { jwk, privateKey } = await pairOf("ES256", "one");
  token = await signed(privateKey, { alg: "ES256", kid: "one" }, { ...claims, exp: Date.now() / 1000 + 600 });
  const issuer = await serverOfFile((request, response) => {
    asked++;
    if (request.url === "/jwks/slow") return;
    if (request.url === "/jwks/moved") response.writeHead(302, { location: "/jwks" });
    response.end(JSON.stringify({ keys: [jwk] }));
  });
  url = `${issuer.url}/jwks`;
});

const expected = [
  ["HS256", 200],
  ["expired", 401],
  ["cut short", 401],
  ...["ES256", "RS256", "PS256", "EdDSA"].map((alg) => [alg, 200]),
  ["JWKS", 200, 200, 200],
  ["slow", 503],
  ["moved", 503],
  ["long", 503],
];

describe("a bearer has the same answers", () => {
  it.each([
    ["the oldest Node", runtimes["node-oldest"], []],
    ["Bun", runtimes.bun, []],
    ["Deno", runtimes.deno, ["run", "--no-config", "--node-modules-dir=manual", "--allow-all"]],
  ] as const)("on %s", async (_name, binary, flags) => {
    const { stdout } = await promisify(execFile)(binary(), [...flags, program, url, token], { cwd: root });
    expect(JSON.parse(stdout)).toEqual(expected);
  });

  it("on Workers, where requests share no promise", async () => {
    const miniflare = await workerOf(worker, import.meta.dirname, { bindings: { URL: url, TOKEN: token } });
    try {
      expect(await (await miniflare.dispatchFetch("http://localhost/table")).json()).toEqual(expected);
      const headers = { authorization: `Bearer ${token}` };
      const ask = async () => (await miniflare.dispatchFetch("http://localhost/me", { headers })).status;
      expect(await Promise.all(Array.from({ length: 10 }, ask))).toEqual(Array(10).fill(200));
      const before = asked;
      expect(await ask()).toBe(200);
      expect(asked).toBe(before);
    } finally {
      await miniflare.dispose();
    }
  });
});

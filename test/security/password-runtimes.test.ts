/** A password hash of one runtime is verified by the others. Argon2id is tested on runtimes that have it. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Password } from "usher-http";
import { Miniflare } from "../support/miniflare.ts";
import { report } from "../support/password-runtimes.ts";
import type { Argon2Report, Known, PasswordReport } from "../support/password-runtimes.ts";
import { runtimes } from "../support/runtimes.ts";
import { rows } from "../support/wide.ts";

const run = promisify(execFile);
const passwords = Password.make({ cost: { log2N: 10, r: 8, p: 3 } });
const password = "Bj\u00f6rn\0";
const zeros = `$argon2id$v=19$m=256,t=2,p=1$${"A".repeat(22)}$${"A".repeat(43)}`;
/** From the reference implementation, phc-winner-argon2's src/test.c. */
const vectors: readonly Known[] = [
  ["password", "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"],
  ["password", "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"],
  ["password", "$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc"],
  ["password", "$argon2id$v=19$m=65536,t=2,p=1$ZGlmZnNhbHQ$vfMrBczELrFdWP0ZsfhWsRPaHppYdP3MVEMIVlqoFBw"],
];
let folder: string;
let stored: string;

async function bundle(stdin: string, outfile: string): Promise<void> {
  await build({
    stdin: { contents: stdin, resolveDir: join(import.meta.dirname, "../support"), loader: "ts" },
    bundle: true,
    format: "esm",
    platform: "node",
    outfile,
    logLevel: "silent",
    external: ["@opentelemetry/*", "prom-client"],
  });
}

beforeAll(async () => {
  // Inside the repository, so that its imports resolve.
  folder = await mkdtemp(join(import.meta.dirname, "../../node_modules/.passwords-"));
  stored = await passwords.hash(password);
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  const main = `import { report } from "./password-runtimes.ts";
    const given = globalThis.Deno?.args ?? process.argv.slice(2);
    console.log(JSON.stringify(await report(given[0], JSON.parse(given[1]))));`;
  await bundle(main, join(folder, "main.js"));
});
afterAll(() => rm(folder, { recursive: true }));

type Runtime = "node-oldest" | "node-24" | "node-newest" | "bun" | "deno";

const running = new Map<string, Promise<PasswordReport>>();

/** The report of a runtime; each runs once. */
function reportOf(runtime: Runtime): Promise<PasswordReport> {
  const before = runtime === "deno" ? ["run", "--allow-all"] : [];
  const start = async (): Promise<PasswordReport> => {
    const given = [stored, JSON.stringify([...vectors, ["", zeros]])];
    const { stdout } = await run(runtimes[runtime](), [...before, join(folder, "main.js"), ...given]);
    return JSON.parse(stdout) as PasswordReport;
  };
  const one = running.get(runtime) ?? start();
  running.set(runtime, one);
  return one;
}

async function expectPortable({ right, wrong, made }: PasswordReport): Promise<void> {
  expect([right, wrong]).toEqual([true, false]);
  expect(await passwords.verify(made, password)).toEqual({ isRight: true, needsRehash: false });
}

function expectNoArgon2({ argon2 }: PasswordReport): void {
  expect(argon2).toEqual({
    make: 'Error: Password.make: algorithm "argon2id": this runtime has no Argon2id. Run it on Node 24.7 or newer or on Bun 1.4.5 or newer, or take "scrypt"',
    verify:
      "Error: Password.verify: the stored hash is of Argon2id, and this runtime has no Argon2id. Run it on Node 24.7 or newer or on Bun 1.4.5 or newer",
  });
}

describe("a password hash of another runtime", () => {
  it.each(rows<Runtime>(["node-24", "bun", "deno"], ["node-oldest"]))("is verified on %s", async (runtime) => {
    await expectPortable(await reportOf(runtime));
  });

  it("is verified on the runtime that made it", async () => expectPortable(await report(stored, [])));

  it("is verified on Workers, which have no Argon2id", async () => {
    const worker = `import { report } from "./password-runtimes.ts";
      export default { fetch: async (request) => Response.json(await report(...await request.json())) };`;
    const file = join(folder, "worker.js");
    await bundle(worker, file);
    const miniflare = new Miniflare({
      modules: true,
      script: await readFile(file, "utf8"),
      compatibilityDate: "2026-01-01",
      compatibilityFlags: ["nodejs_compat"],
    });
    try {
      const body = JSON.stringify([stored, [["", zeros]]]);
      const answer = await miniflare.dispatchFetch("http://worker/", { method: "POST", body });
      const reported = (await answer.json()) as PasswordReport;
      await expectPortable(reported);
      expectNoArgon2(reported);
    } finally {
      await miniflare.dispose();
    }
  });
});

describe("Argon2id", () => {
  it.each(rows<Runtime>(["deno"], ["node-oldest"]))("is refused with a clear message on %s", async (runtime) => {
    expectNoArgon2(await reportOf(runtime));
  });

  it.each(["node-24", "node-newest", "bun"] as const)(
    "is the same as the reference implementation's on %s",
    async (runtime) => {
      const { made, byDefault, checks, rehash, turned } = (await reportOf(runtime)).argon2 as Argon2Report;
      const wrong = { isRight: false, needsRehash: false };
      const known = vectors.map(([, hash]) => {
        const needsRehash = !hash.includes("$m=256,t=2,p=1$");
        return { right: { isRight: true, needsRehash }, wrong };
      });
      expect(checks).toEqual([...known, { right: wrong, wrong }]);
      expect(made).toMatch(/^\$argon2id\$v=19\$m=256,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
      expect(byDefault).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
      expect({ rehash, turned }).toEqual({ rehash: [true, true], turned: true });
    },
  );

  it("of one runtime is verified by the other", async () => {
    const all = await Promise.all((["node-24", "bun"] as const).map(async (one) => (await reportOf(one)).argon2));
    const [node, bun] = all.map((one) => (one as Argon2Report).made);
    const known = [
      [password, node],
      [password, bun],
      ["", node],
    ];
    for (const runtime of ["node-24", "bun"] as const) {
      const { stdout } = await run(runtimes[runtime](), [join(folder, "main.js"), stored, JSON.stringify(known)]);
      const { checks } = (JSON.parse(stdout) as { readonly argon2: Argon2Report }).argon2;
      expect(checks.map((one) => (one as { right: { isRight: boolean } }).right.isRight)).toEqual([true, true, false]);
    }
  });
});

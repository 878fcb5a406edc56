/** A complete sign-in at the issuer `oidc-provider`, on each runtime. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Agent } from "../../support/agent.ts";
import { builtProgram } from "../../support/built-program.ts";
import { workerOf } from "../../support/miniflare.ts";
import { runtimes } from "../../support/runtimes.ts";
import { startProvider } from "./provider.ts";
import type { RunningProvider } from "./provider.ts";

// The issuer needs the ports before the shops listen. No client gets one of these: client ports begin at 32768.
const firstPort = 10_000 + (process.pid % 5000) * 4;
const shops = [0, 1, 2, 3].map((index) => `http://127.0.0.1:${firstPort + index}`);
const [onNode = "", onBun = "", onDeno = "", onWorkers = ""] = shops;
let provider: RunningProvider;
beforeAll(async () => {
  provider = await startProvider(...shops);
});
afterAll(() => provider.close());

const signIn = async (agent: Agent, shop: string) => {
  const page = await agent.open(`${shop}/sign-in`);
  // A second sign-in of the same browser needs no password.
  if (!page.text.includes('name="login"')) return page;
  return agent.send(await agent.send(page, { login: "ada", password: "any" }), {});
};

async function signsInAndOut(shop: string): Promise<void> {
  const before = provider.refreshes();
  const [agent, other] = [new Agent(), new Agent()];
  const [home, of] = await Promise.all([signIn(agent, shop), signIn(other, shop)]);
  expect([home.url.href, home.text, of.text]).toEqual([`${shop}/`, "ada@example.com", "ada@example.com"]);
  const answers = await Promise.all(Array.from({ length: 10 }, () => agent.fetch(`${shop}/me`)));
  expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(
    Array.from({ length: 10 }, () => '{"sub":"ada","email":"ada@example.com"}'),
  );
  expect(provider.refreshes() - before).toBe(1);
  const confirm = await agent.open(`${shop}/sign-out`, { method: "POST" });
  expect(confirm.url.origin).toBe(provider.url);
  const end = await agent.send(confirm, { logout: "yes" });
  expect([end.url.href, end.text]).toEqual([`${shop}/`, "nobody"]);
  expect((await agent.fetch(`${shop}/me`)).status).toBe(401);
  expect((await other.open(`${shop}/`)).text).toBe("ada@example.com");
  const { url } = await new Agent().open(`${shop}/sign-in`);
  expect(url.origin).toBe(provider.url);
  const forged = await agent.fetch(`${shop}/sign-in/callback?code=a&state=b&iss=${provider.url}`);
  expect([forged.status, await forged.json()]).toMatchObject([400, { error: "sign_in_failed" }]);
}

async function ended(server: ChildProcess): Promise<void> {
  server.kill();
  if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
}

describe("a user signs in, calls an API and signs out", () => {
  it.each([
    ["the oldest Node", onNode, [runtimes["node-oldest"]()]],
    ["Bun", onBun, [runtimes.bun()]],
    ["Deno", onDeno, [runtimes.deno(), "run", "--allow-all"]],
  ] as const)("on %s", async (_name, shop, [command = "", ...flags]) => {
    const program = await builtProgram(join(import.meta.dirname, "shop-program.ts"));
    const SHOP = JSON.stringify({ ORIGIN: shop, ISSUER: provider.url, SECRET: provider.secret });
    const server = spawn(command, [...flags, program], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, SHOP },
    });
    try {
      await new Promise<void>((resolve, reject) => {
        server.stdout.on("data", (data: Buffer) => String(data).includes("listening") && resolve());
        server.once("exit", () => reject(new Error("the server ended")));
      });
      await signsInAndOut(shop);
    } finally {
      await ended(server);
    }
  });

  it("on Workers", async () => {
    const program = `
      import { env } from "cloudflare:workers";
      import { worker } from "usher-http/workers";
      import { shopRoutes } from "./shop-routes.ts";
      export default worker(shopRoutes(env));
    `;
    const miniflare = await workerOf(program, import.meta.dirname, {
      bindings: { ORIGIN: onWorkers, ISSUER: provider.url, SECRET: provider.secret },
      host: "127.0.0.1",
      port: Number(new URL(onWorkers).port),
    });
    try {
      await miniflare.ready;
      await signsInAndOut(onWorkers);
    } finally {
      await miniflare.dispose();
    }
  });
});

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accepts } from "../../examples/orders/postgres-server.ts";
import { startPostgres } from "../support/postgres/database.ts";
import { startExample } from "./start-example.ts";
import type { RunningExample } from "./start-example.ts";

const server = await startPostgres();

async function placed(example: RunningExample, item: string): Promise<unknown> {
  const body = JSON.stringify({ item, quantity: 1 });
  const response = await fetch(`${example.url}/orders`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return response.json();
}

const listed = async (example: RunningExample) =>
  ((await (await fetch(`${example.url}/orders`)).json()) as readonly { item: string }[]).map(({ item }) => item);

/** What the tests of the example's own server share: to make its data takes a second of processor time. */
const data = mkdtempSync(join(tmpdir(), "usher-orders-"));
afterAll(() => rmSync(data, { recursive: true, force: true }));

describe("the orders example, run by npm start", () => {
  let example: RunningExample;
  beforeAll(async () => {
    example = await startExample("orders", { DATA_DIR: data });
  });
  afterAll(() => example.stop());

  it("is ready when it prints that it listens", async () => {
    const response = await fetch(`${example.url}/readyz`);
    expect([response.status, await response.text()]).toEqual([200, "ok"]);
  });

  it("serves its page, with a script of its own that a strict CSP allows", async () => {
    const page = await fetch(example.url);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self';");
    expect(await page.text()).toContain('<script type="module" src="/assets/page.js"></script>');
    const script = await fetch(`${example.url}/assets/page.js`);
    expect([script.status, script.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(await script.text()).toContain("/orders/import");
  });

  it("prints that the database is its own, and where its data is", () => {
    const [made, own] = example.lines;
    expect(made).toContain("making a PostgreSQL database in ");
    expect(own).toContain("without DATABASE_URL: a PostgreSQL server of its own, with its data in ");
  });

  it("prints the URLs to open once it listens", async () => {
    const line = example.lines.find((line) => line.includes("to open: ")) ?? "";
    const urls = [...line.matchAll(/http:\/\/[^\s",]+/g)].map(([url]) => url);
    expect(urls).toEqual([`${example.url}/`, `${example.url}/docs`, `${example.url}/livez`]);
    expect(await Promise.all(urls.map(async (url) => (await fetch(url)).status))).toEqual([200, 200, 200]);
  });

  it("says in one sentence who has its data when it is started a second time", async () => {
    const second = startExample("orders", { DATA_DIR: example.data });
    const said = await second.then(String, (error: Error) => error.message);
    const lines = said.split("\n").filter((line) => line !== "" && !line.includes("ended before it listened"));
    expect(lines).toEqual([
      expect.stringMatching(
        /^the data in \S+ is in use by a PostgreSQL server that process \d+ started\. Stop it, or start beside it: /,
      ),
    ]);
  });

  it("ends cleanly on SIGTERM, and leaves no server", async () => {
    await placeAndStop(example, [], "SIGTERM");
    expect(example.lines.at(-1)).toContain('"message":"stopped"');
  });

  it("has its data again after a restart, whether it was stopped or killed", async () => {
    for (const [before, signal] of [
      [["order 0"], "SIGKILL"],
      [["order 0", "order 1"], "SIGTERM"],
    ] as const) {
      await placeAndStop(await startExample("orders", { DATA_DIR: data }), before, signal);
    }
  });

  /** Adds one more order, and ends the example: its database's server ends with it. */
  async function placeAndStop(
    running: RunningExample,
    before: readonly string[],
    signal: "SIGTERM" | "SIGKILL",
  ): Promise<void> {
    expect(await listed(running)).toEqual(before);
    const item = `order ${before.length}`;
    expect(await placed(running, item)).toMatchObject({ item });
    const pid = join(data, "data", "postmaster.pid");
    const port = Number(readFileSync(pid, "utf8").split("\n")[3]);
    expect(await accepts(port)).toBe(true);
    expect(await running.stop(signal)).toBe(signal === "SIGTERM" ? 0 : null);
    await expect.poll(() => accepts(port)).toBe(false);
    await expect.poll(() => existsSync(pid)).toBe(false);
  }
});

describe("the orders example with DATABASE_URL", () => {
  it("uses that database, and followers in one process receive the events of another", async () => {
    const example = await startExample("orders", { DATABASE_URL: server.url() });
    expect(await placed(example, "pen")).toMatchObject({ item: "pen" });
    expect(await example.stop()).toBe(0);
    expect(example.lines.join()).not.toContain("without DATABASE_URL");
    const start = () => startExample("orders", { DATABASE_URL: server.url() });
    const [here, there] = await Promise.all([start(), start()]);
    expect(await listed(here)).toEqual(["pen"]);
    const following = await fetch(`${here.url}/orders/feed`);
    await placed(there, "from the other");
    let told = "";
    for await (const part of following.body as ReadableStream<Uint8Array>) {
      told += new TextDecoder().decode(part);
      if (told.includes("from the other")) break;
    }
    expect(told.match(/from the other/g)).toHaveLength(1);
    expect(await here.stop()).toBe(0);
    expect(await there.stop()).toBe(0);
  });

  it("prints the reason and ends with 1 when the database is unreachable", async () => {
    const started = startExample("orders", { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" });
    await expect(started).rejects.toThrow(/"level":"error".*ECONNREFUSED/);
  });
});

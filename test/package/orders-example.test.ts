import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startExample } from "./start-example.ts";
import type { RunningExample } from "./start-example.ts";

describe("the orders example, as npm start runs it", { timeout: 30_000 }, () => {
  let example: RunningExample;
  beforeAll(async () => {
    example = await startExample("orders");
  }, 30_000);
  afterAll(() => example.stop());

  it("is ready once it says that it listens", async () => {
    const response = await fetch(`${example.url}/readyz`);
    expect([response.status, await response.text()]).toEqual([200, "ok"]);
  });

  it("ends cleanly on SIGTERM", async () => {
    expect(await example.stop()).toBe(0);
    expect(example.lines.at(-1)).toContain('"message":"stopped"');
  });
});

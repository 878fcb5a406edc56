/** The table of OWASP API Security Top 10 in docs/guides/security.md names tests that there are. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const guide = readFileSync(join(root, "docs/guides/security.md"), "utf8");
const rows = [...guide.matchAll(/^\| (API\d+) .*\| ([^|]+) \|$/gm)].map(([, threat, tests = ""]) => ({
  threat,
  tests: [...tests.matchAll(/`([^`]+)`/g)].map(([, file]) => file ?? ""),
}));

it("has every threat of 2023", () => {
  expect(rows.map(({ threat }) => threat)).toEqual(Array.from({ length: 10 }, (_, i) => `API${i + 1}`));
});

it.each(rows)("$threat has tests that exist", ({ tests }) => {
  expect(tests.length).toBeGreaterThan(0);
  expect(tests.filter((file) => !file.endsWith(".test.ts") || !existsSync(join(root, file)))).toEqual([]);
});

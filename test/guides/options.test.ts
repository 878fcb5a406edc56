/** The tables of the guides have every option that there is. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The members of an interface of a file. */
function membersOf(file: string, name: string): readonly string[] {
  const [, body = ""] = new RegExp(`^export interface ${name}\\b[^{]*\\{\\n(.*?)^\\}`, "ms").exec(read(file)) ?? [];
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, member = ""]) => member);
}

/** What the first cells of a page's tables name. */
function namedIn(page: string): readonly string[] {
  const cells = [...read(page).matchAll(/^\| ([^|]*) \|/gm)].map(([, cell = ""]) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
}

it.each([
  ["AppOptions", "src/app/app.ts", "docs/guides/app-options.md", 20],
  ["ListenOptions", "src/server/options.ts", "docs/guides/node.md", 10],
  ["DocumentOptions", "src/openapi/document.ts", "docs/guides/openapi.md", 4],
  ["ApiInfo", "src/openapi/info.ts", "docs/guides/openapi.md", 5],
] as const)("each of %s is in a table of the guide", (name, file, page, least) => {
  const members = membersOf(file, name);
  expect(members.length).toBeGreaterThan(least);
  expect(members.filter((member) => !namedIn(page).includes(member))).toEqual([]);
});

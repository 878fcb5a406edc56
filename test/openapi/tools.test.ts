/** The document in other tools: OpenAPI's own schemas, a linter of the specification, a compiler of types. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Health, Openapi } from "usher-http";
import type { Route } from "usher-http";
import { routes as orders } from "../../examples/orders/routes.ts";
import { refusalFormat, routes as conduit } from "../../examples/realworld/conduit.ts";
import { add } from "./add.ts";
import { wrongWith } from "./official.ts";
import { anyRoutes } from "./random-routes.ts";
import { isWide } from "../support/wide.ts";

const root = join(import.meta.dirname, "../..");
const redocly = join(root, "node_modules/.bin/redocly");
const typescript = join(import.meta.dirname, "typescript/node_modules");
const versions = ["3.2", "3.1"] as const;
const tables: [string, readonly Route[], Openapi.DocumentOptions?][] = [
  ["the orders example", orders],
  ["the RealWorld example", conduit, { refusalFormat }],
  ["the route of the cases", [add]],
  ["the health routes", Health.routes([])],
];

describe("documents", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "usher-openapi-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function write(name: string, document: Openapi.Document): string {
    writeFileSync(join(folder, name), JSON.stringify(document));
    return name;
  }

  async function run(file: string, ...args: readonly string[]): Promise<string> {
    // Neither asks anyone whether there is a newer one.
    const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1" };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [file, ...args], { cwd: folder, env }).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    return stdout + stderr;
  }

  it.each(tables)(
    "of %s are valid by OpenAPI's own schemas, and described completely",
    async (_name, routes, options) => {
      for (const openapi of versions) {
        expect(
          await wrongWith(Openapi.document(routes, { ...options, title: "Orders", version: "1", openapi })),
        ).toEqual([]);
      }
      expect(Openapi.report(routes)).toEqual([]);
    },
  );

  it("break no rule of a linter of the specification", async () => {
    const random = fc.sample(anyRoutes, { numRuns: isWide ? 60 : 30, seed: 6 });
    const files = [...tables.map(([, routes]) => routes), ...random].flatMap((routes, index) =>
      versions.flatMap((openapi) => {
        try {
          return [write(`${index}-${openapi}.json`, Openapi.document(routes, { openapi }))];
        } catch {
          return [];
        }
      }),
    );
    expect(files.length).toBeGreaterThan(50);
    writeFileSync(join(folder, "redocly.yaml"), "extends: [spec]\n");
    expect(await run(redocly, "lint", ...files)).toContain("Your API descriptions are valid.");
  });

  it("in 3.1 are read by openapi-typescript without errors, as types that match the routes", async () => {
    const file = write("orders.json", Openapi.document(orders, { openapi: "3.1" }));
    const said = await run(join(typescript, "openapi-typescript/bin/cli.js"), file, "-o", "orders.ts");
    expect(said).not.toMatch(/warn|error|✘/i);
    writeFileSync(join(folder, "used.ts"), used);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const options = [
      "--noEmit",
      "--strict",
      "--exactOptionalPropertyTypes",
      "--module",
      "nodenext",
      "--allowImportingTsExtensions",
    ];
    expect(await run(join(typescript, "typescript/bin/tsc"), ...options, "used.ts")).toBe("");
  });
});

/** What a caller's program takes from the types. */
const used = `
import type { components, paths } from "./orders.ts";

type Place = paths["/orders"]["post"];
export const order: components["schemas"]["Order"] = { id: 1, item: "pen", quantity: 2, placed_at: "2026-01-01T00:00:00Z" };
export const sent: NonNullable<Place["requestBody"]>["content"]["application/json"] = { item: "pen", quantity: 2 };
export const placed: Place["responses"][201]["content"]["application/json"] = order;
export const refused: Place["responses"][409]["content"]["application/json"] = { error: "sold_out", message: "None." };
export const query: paths["/orders"]["get"]["parameters"]["query"] = { page: 1 };
// @ts-expect-error a number of orders is no text
export const wrong: typeof sent = { item: "pen", quantity: "2" };
// @ts-expect-error there is no such answer
export type None = Place["responses"][404];
`;

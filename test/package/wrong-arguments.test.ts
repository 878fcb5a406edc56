/**
 * What JavaScript can get wrong in the arguments of a public function is a sentence that names the function and the argument,
 * and never the engine's own. Each function of each entry is in a table.
 */
import { readFileSync, readdirSync } from "node:fs";
import * as usher from "usher-http";
import * as bun from "usher-http/bun";
import * as client from "usher-http/client";
import * as compress from "usher-http/compress";
import * as conditional from "usher-http/conditional";
import * as languages from "usher-http/languages";
import * as deno from "usher-http/deno";
import * as files from "usher-http/files";
import * as jwt from "usher-http/jwt";
import * as mcp from "usher-http/mcp";
import * as node from "usher-http/node";
import * as oidc from "usher-http/oidc";
import * as postgres from "usher-http/postgres";
import * as redis from "usher-http/redis";
import * as scalar from "usher-http/scalar";
import * as tanstack from "usher-http/tanstack-query";
import * as whatwg from "usher-http/whatwg";
import * as workers from "usher-http/workers";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { answerTables } from "./wrong-arguments/answers.ts";
import { credentialTables } from "./wrong-arguments/credentials.ts";
import { databaseTables, pool } from "./wrong-arguments/database.ts";
import { optionTables } from "./wrong-arguments/options.ts";
import { inputTables } from "./wrong-arguments/inputs.ts";
import { representationTables } from "./wrong-arguments/representations.ts";
import { runningTables } from "./wrong-arguments/running.ts";
import { saidBy, unexplained } from "./wrong-arguments/rule.ts";
import type { Row } from "./wrong-arguments/rule.ts";
import { serverTables } from "./wrong-arguments/servers.ts";
import { serviceTables } from "./wrong-arguments/services.ts";

const tables = Object.entries({
  ...inputTables,
  ...answerTables,
  ...runningTables,
  ...serviceTables,
  ...serverTables,
  ...databaseTables,
  ...credentialTables,
  ...representationTables,
  ...optionTables,
});

describe.each(tables)("%s", (_about, rows) => {
  it.each(rows)("%s %#", async (...row) => {
    expect(await unexplained(row as unknown as Row)).toEqual([]);
  });
});

const front = "usher-http";
const entries = {
  [front]: usher,
  "usher-http/node": node,
  "usher-http/bun": bun,
  "usher-http/client": client,
  "usher-http/compress": compress,
  "usher-http/conditional": conditional,
  "usher-http/languages": languages,
  "usher-http/files": files,
  "usher-http/jwt": jwt,
  "usher-http/deno": deno,
  "usher-http/workers": workers,
  "usher-http/whatwg": whatwg,
  "usher-http/oidc": oidc,
  "usher-http/postgres": postgres,
  "usher-http/redis": redis,
  "usher-http/scalar": scalar,
  "usher-http/mcp": mcp,
  "usher-http/tanstack-query": tanstack,
};

const { App, Client, Dep, Path, get } = usher;
const { Statement } = postgres;
const page = readFileSync(new URL("../../docs/guides/compiler-errors.md", import.meta.url), "utf8");
const hello = get(Path.of("a"), { returns: usher.Returns.text }, () => "hi");
// As a program in JavaScript says it, which has no types.
const programs: readonly (readonly [program: string, run: () => unknown])[] = [
  ["Dep.map(user)", () => (Dep.map as (...given: unknown[]) => unknown)(usher.request)],
  ['get("/orders/:id", { returns }, list)', () => get("/orders/:id" as never, {} as never, () => "")],
  ['Path.of("orders", ":id")', () => Path.of("orders", ":id")],
  [
    'get(Path.of("orders"), { returns: v.string() }, list)',
    () => App.make([get(Path.of("orders"), { returns: v.string() as never }, () => "x")]),
  ],
  [
    'App.make(routes, { trustedOrigins: "https://a.example" })',
    () => App.make([hello], { trustedOrigins: "https://a.example" as never }),
  ],
  [
    'Statement.list("select id from orders")',
    () => (Statement.list as (sql: string) => unknown)("select id from orders"),
  ],
  ['await pool.exec("select 1")', () => pool.exec("select 1" as never)],
  ['Client.of({ baseURL: "https://a.example" })', () => Client.of({ baseURL: "https://a.example" } as never)],
];

it.each(programs)("the guide has the error of %s", async (program, run) => {
  expect(page).toContain(`| \`${program}\` | \`${await saidBy(run, [])}\` |`);
});

/** Those whose options have names of a program or of a platform, and those that compare the names themselves. */
const comparedElsewhere = ["Answer.make", "Answer.stream", "Dep.transaction", "HttpClient.fetch"];

it("every function with options compares their names", () => {
  const folder = new URL("../../", import.meta.url);
  const files = ["src", "adapters"].flatMap((name) =>
    readdirSync(new URL(name, folder), { recursive: true, encoding: "utf8" }).map((file) => `${name}/${file}`),
  );
  const unchecked = files
    .filter((file) => file.endsWith(".ts") && file !== "src/arguments.ts")
    .flatMap((file) => [
      ...readFileSync(new URL(file, folder), "utf8").matchAll(/needsObject\(["`]([^"`]*): options["`]/g),
    ])
    .map(([, maker]) => maker);
  expect(new Set(unchecked)).toEqual(new Set(comparedElsewhere));
});

it.each([
  [
    "Rate.make",
    () => usher.Rate.make({ limit: 1, perMs: 1000, burts: 2 } as never),
    "burts is none of its options: write burst",
  ],
  ["App.make", () => App.make([hello], { maxbody: 1 } as never), "maxbody is none of its options: write maxBody"],
  [
    "App.make",
    () => App.make([hello], { checkOrigin: false, trustedOrigins: ["https://a.example"] }),
    "checkOrigin is false, so every origin may send: leave out trustedOrigins, or checkOrigin",
  ],
  ["serve", () => node.serve([hello], { prot: 0 } as never), "prot is none of its options: write port"],
  [
    "Cookie.named",
    () => usher.Cookie.named("a", usher.Codec.string, { sameSite: "none" } as never),
    "sameSite is none of its options: doc, example, examples, deprecated",
  ],
  [
    "Cookie.make",
    () => usher.Cookie.make(usher.Cookie.named("a", usher.Codec.string), "x", { samesite: "lax" } as never),
    "samesite is none of its options: write sameSite",
  ],
  [
    "Openapi",
    () => usher.Openapi.document([hello], { title: "a", version: "1", openapi: "3.2.0" as never }),
    'openapi is "3.1" or "3.2", and not "3.2.0"',
  ],
  [
    "Proxies.make",
    () => usher.Proxies.make(["0.0.0.0/0"]),
    "0.0.0.0/0 is every address: any client could choose its own. List the proxies' addresses",
  ],
  [
    "Proxies.make",
    () => usher.Proxies.make(["10.0.0.0/8", "::/0"]),
    "::/0 is every address: any client could choose its own. List the proxies' addresses",
  ],
])("%s says what to write in place of a wrong option", async (maker, run, said) => {
  expect(await saidBy(run, [])).toBe(`${maker}: ${said}`);
});

/** They take no argument, or any value. */
const takeAll = new Set(["Dep.return", "Idempotency.key", "Log.requestId", "Result.error", "Result.ok", "script"]);

describe("the tables have every function", () => {
  const tested = new Set(
    tables.flatMap(([about, rows]) => rows.map(([name]) => `${about in entries ? about : front} ${name}`)),
  );
  it.each(Object.entries(entries))("of %s", (entry, exported) => {
    const names = functionsOf(exported, "").filter((name) => !takeAll.has(name));
    expect(names.filter((name) => !tested.has(`${entry} ${name}`))).toEqual([]);
  });
});

/** The functions of an entry and of its namespaces, and the static ones of its classes. */
function functionsOf(exported: object, prefix: string): readonly string[] {
  return Object.entries(exported).flatMap(([name, value]: [string, unknown]) => {
    const path = `${prefix}${name}`;
    if (Object.prototype.toString.call(value) === "[object Module]") return functionsOf(Object(value), `${path}.`);
    if (typeof value !== "function") return [];
    // A class is made by the framework, or is an error.
    return /^class\b/.test(String(value)) ? functionsOf(value, `${path}.`) : [path];
  });
}

/**
 * What JavaScript can get wrong in the arguments of a public function is a sentence that names the function and the argument,
 * and never the engine's own. Each function of each entry is in a table.
 */
import * as usher from "usher-http";
import * as bun from "usher-http/bun";
import * as client from "usher-http/client";
import * as deno from "usher-http/deno";
import * as node from "usher-http/node";
import * as postgres from "usher-http/postgres";
import * as redis from "usher-http/redis";
import * as scalar from "usher-http/scalar";
import * as whatwg from "usher-http/whatwg";
import * as workers from "usher-http/workers";
import { describe, expect, it } from "vitest";
import { answerTables } from "./wrong-arguments/answers.ts";
import { databaseTables } from "./wrong-arguments/database.ts";
import { inputTables } from "./wrong-arguments/inputs.ts";
import { runningTables } from "./wrong-arguments/running.ts";
import { unexplained } from "./wrong-arguments/rule.ts";
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
  "usher-http/deno": deno,
  "usher-http/workers": workers,
  "usher-http/whatwg": whatwg,
  "usher-http/postgres": postgres,
  "usher-http/redis": redis,
  "usher-http/scalar": scalar,
};

/** They take no argument, or any value. */
const takeAll = new Set(["Dep.return", "Log.requestId", "Result.error", "Result.ok", "script"]);

describe("a table has every function", () => {
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

import type { FileNeed, TextNeed } from "../src/inputs/dep.ts";
import { describing } from "../src/inputs/wire.ts";
import { readsOf } from "../src/openapi/inputs.ts";
import type { Reads } from "../src/openapi/inputs.ts";
import { operationsOf } from "../src/openapi/mounted.ts";
import { codesOf, hasVersions } from "../src/openapi/responses.ts";
import { crossOrigin } from "../src/routing/meta.ts";
import type { Route } from "../src/routing/route.ts";
import { shapeName } from "../src/schema/valibot.ts";
import type { AnyStandard } from "../src/schema/standard.ts";
import { moduleAnd } from "./command.ts";
import type { Command } from "./command.ts";
import { loadRoutes } from "./load-routes.ts";

const help = `usher routes <module>

Lists the routes that the module exports as "routes", with their inputs, answers and refusals. An optional input has a
question mark, a repeated one three dots. A list that is wider than the terminal, or than 100 columns where the output is no
terminal, has a line for each of them. Every route may also refuse with busy and internal.`;

/** The width where the output is no terminal: of a file, a review, a log of CI. */
const columnsOfText = 100;

/** `usher routes`: prints a table of the routes. */
export const routes: Command = {
  name: "routes",
  summary: "list the routes with their inputs, answers and refusals",
  help,
  async run(args, terminal) {
    const { module } = moduleAnd(args, {});
    const rows = (await loadRoutes(module)).flatMap(rowsOf);
    const all = table([["METHOD", "PATH", "READS", "ANSWERS", "REFUSES"], ...rows]);
    const { columns = columnsOfText } = terminal;
    const fits = all.split("\n").every((line) => line.length <= columns);
    terminal.out(fits ? all : rows.map((row) => below(row, columns)).join(""));
    return 0;
  },
};

const ofEveryRoute: ReadonlySet<string> = new Set(["busy", "internal"]);

/** The row of a route, and those of the operations that a mount's `doc` has. */
function rowsOf(route: Route): readonly (readonly string[])[] {
  const operations = operationsOf(route, route.doc ?? []).map(({ route, operation }) => {
    const [method = "", path = "", reads = "", , refuses = ""] = rowOf({ ...route, inputs: {} });
    const statuses = Object.keys(operation?.responses ?? {}).join(" ");
    return [method, path, reads, `${statuses} mounted`, refuses];
  });
  return [rowOf(route), ...operations];
}

function rowOf(route: Route): readonly string[] {
  const reads = readsOf(route);
  const codes = codesOf(route, reads).map(({ name }) => name);
  const refuses = codes.filter((name) => !ofEveryRoute.has(name));
  return [route.method, route.pattern, inputs(route, reads), answers(route, reads), refuses.join(" ")];
}

function inputs(route: Route, reads: Reads): string {
  const segments = route.path.segments.filter((segment) => typeof segment !== "string");
  const values = [...reads.values, ...reads.credentials.flatMap(({ reads }) => reads)];
  const named = values.map(
    (need) => `${need.in}.${need.name}${"style" in need ? markOf(need) : need.required === true ? "" : "?"}`,
  );
  const fields = reads.fields.map((need) => `form.${need.name}${markOf(need)}`);
  const all = [
    ...segments.map(({ kind, name }) => `path.${name}${kind === "rest" ? "..." : ""}`),
    // One that an input needs is listed once, also where another input may do without it.
    ...[...new Set(named)].filter((one) => !(one.endsWith("?") && named.includes(one.slice(0, -1)))),
    ...new Set(fields),
    ...bodyInList(reads),
    ...reads.alsoReads.map((what) => `(${what})`),
    ...originsInList(route),
    ...(reads.isOpaque ? ["(more than it says)"] : []),
  ];
  return all.join(" ");
}

/** The origins whose pages may send it requests, which others may not. */
function originsInList({ meta }: Route): readonly string[] {
  const origins = meta.find(crossOrigin);
  if (origins === undefined) return [];
  return [origins === "any" ? "(from any origin)" : `(from ${origins.join(", ")})`];
}

function markOf(need: TextNeed | FileNeed): string {
  const { mark } = describing[need.in !== "file" ? need.style : need.repeated ? "list" : "text"];
  return mark || (need.required ? "" : "?");
}

function bodyInList({ body }: Reads): readonly string[] {
  if (body === undefined || body.as === "form") return [];
  return ["shape" in body ? `${body.as}:${nameOr(body.shape, "value")}` : body.as];
}

function answers({ method, returns: { node } }: Route, reads: Reads): string {
  const listed = node.statuses.map(([status]) => status);
  const isNotModified = method === "GET" && hasVersions(node, reads) && !listed.includes(304);
  const statuses = [...listed, ...(isNotModified ? [304] : [])].join(" ");
  if (node.kind === "response") return `${statuses} response`.trimStart();
  if (node.kind === "events") return `${statuses} events:${(node.events ?? []).map(({ name }) => name).join(",")}`;
  return node.shape === undefined
    ? `${statuses} ${node.kind}`
    : `${statuses} ${node.kind}:${nameOr(node.shape, "value")}`;
}

function nameOr(shape: AnyStandard, other: string): string {
  return shapeName(shape) ?? other;
}

/** Rows in aligned columns. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

/** A row with one line for each cell, for a terminal narrower than the table. */
function below([method = "", path = "", ...cells]: readonly string[], columns: number): string {
  const lines = ["reads", "answers", "refuses"].flatMap((name, index) => {
    const cell = cells[index] ?? "";
    return cell === "" ? [] : wrapped(name, cell.split(" "), columns);
  });
  return [`${method} ${path}`, ...lines, ""].join("\n");
}

/** Wraps words to the width, without breaking a word. */
function wrapped(name: string, words: readonly string[], columns: number): readonly string[] {
  const lines: string[] = [];
  let line = `  ${name.padEnd(7)}`;
  for (const word of words) {
    if (line.trim() !== "" && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = " ".repeat(9);
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

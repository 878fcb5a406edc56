/**
 * Checks what a route costs the type checker: at most `maxPlain` instantiations, and `maxCalled` more if a client calls it; of a route
 * in a group, which has a parameter and an input more, at most 45 more.
 * The cost must not grow with the number of routes. Each route has its own path, inputs and shapes; the cost of the shapes
 * alone is subtracted.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// Ten of them try the signatures of `Path.of` for texts that a generic function takes; six ask whether a body's shape is partial;
// 28 ask whether a text of a path looks like a parameter of another router; four whether there are inputs, to name what a handler gets.
const maxPlain = 505;
// Twelve of them ask whether the route is a WebSocket's.
const maxCalled = 145;
const maxGrouped = maxPlain + 45;
const maxGroupedCalled = 155;
const spread = 0.05;
const counts = [50, 200];

const plain = { by: "post", before: "", path: "", given: "", sent: "" };
const inGroup = {
  by: "shop.post",
  before: `
const shopName = Path.str("shop");
export const clerk = Dep.map(Header.required("x-clerk", Codec.string), (name) => ({ name }));
export const shop = Route.group({ prefix: Path.of("shops", shopName), inputs: { shop: param(shopName), clerk } });`,
  path: "/shops/{shop}",
  given: ", shop, clerk",
  sent: `, headers: { "x-clerk": "kim" }`,
};

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const folder = mkdtempSync(join(tmpdir(), "usher-instantiations-"));
try {
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["valibot", "@types", "undici-types"]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  symlinkSync(root, join(folder, "node_modules/usher-http"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    strict: true,
    noEmit: true,
    types: ["node"],
    skipLibCheck: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));

  const totals = counts.map((count) => {
    return {
      count,
      none: instantiations(count, 0, 0, plain),
      routes: instantiations(count, count, 0, plain),
      calls: instantiations(count, count, count, plain),
      grouped: instantiations(count, count, 0, inGroup),
      groupedCalls: instantiations(count, count, count, inGroup),
    };
  });
  hold(
    "route",
    maxPlain,
    totals.map(({ count, none, routes }) => (routes - none) / count),
  );
  hold(
    "call",
    maxCalled,
    totals.map(({ count, routes, calls }) => (calls - routes) / count),
  );
  hold(
    "route of a group",
    maxGrouped,
    totals.map(({ count, none, grouped }) => (grouped - none) / count),
  );
  hold(
    "call of a route of a group",
    maxGroupedCalled,
    totals.map(({ count, grouped, groupedCalls }) => (groupedCalls - grouped) / count),
  );
} finally {
  rmSync(folder, { recursive: true });
}

/** @param {string} what @param {number} max @param {readonly number[]} costs */
function hold(what, max, costs) {
  const rounded = costs.map(Math.round);
  console.log(`instantiations per ${what}: ${rounded.join(", ")} with ${counts.join(", ")} routes; at most ${max}`);
  const linear = Math.max(...costs) <= Math.min(...costs) * (1 + spread);
  if (!linear) console.error(`a ${what} costs more the more there are`);
  if (!linear || Math.max(...rounded) > max) process.exitCode = 1;
}

/** @param {number} shapes @param {number} routes @param {number} calls @param {typeof plain} kind */
function instantiations(shapes, routes, calls, kind) {
  writeFileSync(join(folder, "shapes.ts"), shapesModule(shapes));
  writeFileSync(join(folder, "routes.ts"), routesModule(routes, kind));
  writeFileSync(join(folder, "client.ts"), calls === 0 ? "" : clientModule(calls, kind));
  const args = [tsc, "-p", folder, "--extendedDiagnostics", "--singleThreaded"];
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const counted = /^Instantiations:\s+(\d+)$/m.exec(stdout)?.[1];
  if (status !== 0 || counted === undefined) throw new Error(`the routes do not compile:\n${stdout.slice(0, 2000)}`);
  return Number(counted);
}

/** @param {number} count */
function shapesModule(count) {
  const pairs = Array.from(
    { length: count },
    (_, i) => `
export const New${i} = Shape.named("New${i}", v.object({
  item: v.pipe(v.string(), v.minLength(1)), quantity: v.pipe(v.number(), v.integer()), note: v.optional(v.string()),
}));
export const Placed${i} = Shape.named("Placed${i}", v.object({
  id: v.pipe(v.number(), v.integer()), item: v.string(), quantity: v.number(), placed_at: Shape.instant,
}));`,
  );
  return `import { Refusal, Shape } from "usher-http";
import * as v from "valibot";
export const gone = Refusal.code("gone", { status: 410, doc: "It was there." });
${pairs.join("")}`;
}

/** @param {number} count @param {typeof plain} kind */
function routesModule(count, { by, before, given }) {
  const routes = Array.from(
    { length: count },
    (_, i) => `
const id${i} = Path.int("id");
export const route${i} = ${by}(
  Path.of("things${i}", id${i}),
  {
    inputs: {
      id: param(id${i}),
      page: Query.default("page", Codec.int, 1),
      name: Query.required("name", Codec.string),
      thing: json(shapes.New${i}),
    },
    returns: Returns.json(shapes.Placed${i}),
    refuses: [shapes.gone],
  },
  ({ id, page, name, thing${given} }) => {
    if (name === "gone") return refuse(shapes.gone);
    return { id: id + page, item: thing.item, quantity: thing.quantity, placed_at: new Date(0) };
  },
);`,
  );
  return `import { Codec, Dep, Header, Path, Query, Returns, Route, json, param, post, refuse } from "usher-http";
import * as shapes from "./shapes.js";
export { Codec, Dep, Header, Path, Query, Returns, Route, json, param, post, refuse, shapes };${before}
${routes.join("")}`;
}

/** @param {number} count @param {typeof plain} kind */
function clientModule(count, { path, sent: more }) {
  const all = Array.from({ length: count }, (_, i) => `routes.route${i}`);
  const calls = all.map((_, i) => {
    const args = path === "" ? `id: ${i}` : `id: ${i}, shop: "a"`;
    const sent = `{ path: { ${args} }, query: { name: "pen", page: 2 }, json: { item: "pen", quantity: 1 }${more} }`;
    return `
  const came${i} = await api["POST ${path}/things${i}/{id}"](${sent});
  if (came${i}.ok) seen.push(came${i}.value.placed_at);
  else if (came${i}.error === "gone") seen.push(came${i}.message);`;
  });
  return `import { Client } from "usher-http";
import * as routes from "./routes.js";
const all = [${all.join(", ")}];
const api = Client.of<typeof all>({ baseUrl: "" });
export async function called(): Promise<readonly string[]> {
  const seen: string[] = [];${calls.join("")}
  return seen;
}`;
}

/** A typed client in a package of its own, which has another copy of `usher-http` than the server whose routes it imports. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compilerOptions, newest, oldest } from "./compilers.ts";
import { pack } from "./packed.ts";
import type { Packed } from "./packed.ts";

const run = promisify(execFile);

const server = `
import { Event, Form, Path, Query, Refusal, Returns, Route, Shape, get, json, param } from "usher-http";
import * as v from "valibot";

const gone = Refusal.code("gone", { status: 410, doc: "It was there." });
const Order = v.object({ id: Shape.int64, item: v.string(), at: Shape.instant });
const id = Path.int("id");
const shop = Route.group({ prefix: Path.of("shop"), inputs: { dry: Query.default("dry", v.boolean(), false) } });

export const routes = [
  get(Path.of("orders", id), { inputs: { id: param(id) }, returns: Returns.json(Order), refuses: [gone] }, ({ id }) => ({
    id: BigInt(id),
    item: "pen",
    at: new Date(0),
  })),
  shop.post(Path.of("orders"), { inputs: { order: json(Order) }, returns: Returns.json(Order) }, ({ order }) => order),
  shop.put(Path.of("name"), { inputs: { name: Form.required("name", v.string()) }, returns: Returns.empty() }, () => {}),
  get(Path.of("feed"), { returns: Returns.events([Event.json("placed", Order)]) }, () => async () => {}),
] as const;
`;

const caller = `
import * as Client from "usher-http/client";
import type { routes } from "../routes.ts";

const api = Client.of<typeof routes>({ baseUrl: "http://localhost" });
const found = await api["GET /orders/{id}"]({ path: { id: 1 } });
if (found.ok) {
  const item: string = found.value.item;
  const at: string = found.value.at;
  console.log(item, at);
} else if (found.error === "gone") console.log(found.message);
// @ts-expect-error: no code of the route.
else if (found.error === "gnoe") console.log(found.message);
await api["POST /shop/orders"]({ query: { dry: true }, json: { id: 1, item: "pen", at: "2026-01-01T00:00:00Z" } });
// @ts-expect-error: the body lacks its item.
await api["POST /shop/orders"]({ json: { id: 1, at: "2026-01-01T00:00:00Z" } });
await api["PUT /shop/name"]({ form: { name: "Pens" } });
const feed = await api["GET /feed"]();
if (feed.ok) for await (const event of feed.value) console.log(event.value.item.length);
// @ts-expect-error: no such route.
await api["GET /nowhere"]();
`;

let packed: Packed;
beforeAll(() => {
  packed = pack();
  const own = join(packed.folder, "web/node_modules/usher-http");
  mkdirSync(join(packed.folder, "web/node_modules"), { recursive: true });
  cpSync(join(packed.folder, "node_modules/usher-http"), own, { recursive: true, dereference: true });
  // The compiler takes two copies of one version for one.
  const manifest = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as object;
  writeFileSync(join(own, "package.json"), JSON.stringify({ ...manifest, version: "0.0.1" }));
  writeFileSync(join(packed.folder, "routes.ts"), server);
  writeFileSync(join(packed.folder, "web/main.ts"), caller);
  const options = { ...compilerOptions, lib: ["es2023", "dom"], types: [], allowImportingTsExtensions: true };
  writeFileSync(
    join(packed.folder, "web/tsconfig.json"),
    JSON.stringify({ compilerOptions: options, files: ["main.ts"] }),
  );
}, 120_000);
afterAll(() => packed.remove());

it("an app of one copy refuses routes of the other, with both places", async () => {
  writeFileSync(
    join(packed.folder, "web/both.mjs"),
    `import { App, Path, Returns, Route, get } from "usher-http";
import { get as other, Path as OtherPath, Returns as OtherReturns } from "../node_modules/usher-http/dist/index-node.js";
const own = get(Path.of("own"), { returns: Returns.text }, () => "");
App.make([own, ...Route.group({ prefix: Path.of("in") }, [own])]);
const routes = ["a", "b"].map((name) => other(OtherPath.of(name), { returns: OtherReturns.text }, () => ""));
const said = [];
for (const list of [[own, ...routes], [...Route.group({}, routes.slice(1))]]) {
  try { App.make(list); } catch (error) { said.push(error.message); }
}
process.stdout.write(JSON.stringify(said));
`,
  );
  const { stdout } = await run(process.execPath, [join(packed.folder, "web/both.mjs")]);
  const [two, one, ...none] = JSON.parse(stdout) as readonly string[];
  const place = (folder: string) => `file://\\S+${folder}/usher-http/dist/\\S+\\.js`;
  const copies = `another copy of usher-http, ${place("/node_modules")}, and the app is of ${place("web/node_modules")}: install one`;
  expect(two).toMatch(new RegExp(`^App.make: GET /a and 1 more are of ${copies}`));
  expect(one).toMatch(new RegExp(`^App.make: GET /b is of ${copies}`));
  expect(none).toEqual([]);
});

it("an app of one copy refuses an input of the other, with both places", async () => {
  writeFileSync(
    join(packed.folder, "web/inputs.mjs"),
    `import { App, Codec, Dep, Path, Query, Rate, Returns, Route, get } from "usher-http";
import * as other from "../node_modules/usher-http/dist/index-node.js";
const hello = (inputs) => get(Path.of("hello"), { inputs, returns: Returns.text }, () => "");
const page = Query.optional("page", Codec.int);
const user = Dep.join({ page }, ({ page }) => page);
App.make([hello({ page, user, both: Dep.all({ page, user }) })]);
const token = other.Query.optional("token", other.Codec.string);
const lists = {
  join: [hello({ page, user: other.Dep.join({}, () => 1) })],
  used: [hello({ page, user: Dep.map(Dep.join({ token }, ({ token }) => token), (token) => token) })],
  resource: [hello({ user: other.Dep.ofResource("user") })],
  request: [hello({ user: other.Dep.ofRequest(() => 1) })],
  group: Route.group({ inputs: { user: other.Dep.map(user, (user) => user) } }, [hello({ page })]),
  rate: [hello({ user: other.Rate.limit(other.Rate.make({ limit: 1, perMs: 1000 }), { key: user }) })],
};
const said = [];
for (const [name, routes] of Object.entries(lists)) {
  try { App.make(routes); said.push([name, ""]); } catch (error) { said.push([name, error.message]); }
}
process.stdout.write(JSON.stringify(said));
`,
  );
  const { stdout } = await run(process.execPath, [join(packed.folder, "web/inputs.mjs")]);
  const place = (folder: string) => `file://\\S+${folder}/usher-http/dist/\\S+\\.js`;
  const copies = `another copy of usher-http, ${place("/node_modules")}, and the app is of ${place("web/node_modules")}: install one`;
  const sentence = new RegExp(`^App.make: GET /hello: its input user is of ${copies}`);
  const said = JSON.parse(stdout) as readonly (readonly [name: string, message: string])[];
  expect(said.map(([name, message]) => [name, sentence.test(message) ? "said" : message])).toEqual(
    ["join", "used", "resource", "request", "group", "rate"].map((name) => [name, "said"]),
  );
});

it.each([
  ["TypeScript 5.9", oldest],
  ["TypeScript 7", newest],
])("%s has the types of the routes", async (_, folder) => {
  const tsc = run(process.execPath, [join(folder, "bin/tsc"), "-p", join(packed.folder, "web")]);
  const { stdout } = await tsc.catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
});

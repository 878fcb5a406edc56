/** The orders example through both clients, the typed one and the one that `usher client` generates, with a real server. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Client, Dep, Sessions } from "usher-http";
import { clientModule } from "../../cli/client.ts";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { maxBody } from "../../examples/orders/import.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import { start } from "../support/node-server.ts";
import { rows } from "../support/wide.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "usher-client-"));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "client.ts"), clientModule(routes));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');

type Api = Client<typeof routes>;
type Options = Parameters<typeof Client.of>[0];
const clients: readonly { readonly name: string; readonly make: (options: Options) => Promise<Api> }[] = [
  { name: "Client.of", make: async (options) => Client.of<typeof routes>(options) },
  {
    name: "what usher client makes",
    make: async (options) => {
      const made = (await import(/* @vite-ignore */ join(folder, "client.ts"))) as { client(options: Options): Api };
      return made.client(options);
    },
  },
];

describe.each(clients)("the orders example through $name: calls", ({ make }) => {
  async function opened(fetch?: Options["fetch"]): Promise<Api> {
    const { port } = await start(routes, {
      maxBody,
      resources: [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())],
    });
    return make({ baseUrl: `http://127.0.0.1:${port}`, ...(fetch === undefined ? {} : { fetch }) });
  }

  it("creates, finds, changes, lists and removes orders", async () => {
    const api = await opened();
    const placed = await api["POST /orders"]({ json: { item: "pen", quantity: 2 } });
    expect(placed).toMatchObject({
      ok: true,
      status: 201,
      value: { id: 1, item: "pen", placed_at: expect.any(String) },
    });
    const path = { order_id: 1 };
    const changed = await api["PATCH /orders/{order_id}"]({ path, json: { quantity: 3 } });
    expect(changed).toMatchObject({ ok: true, value: { id: 1, quantity: 3 } });
    const found = await api["GET /orders/{order_id}"]({ path });
    expect(found.ok && found.value).toEqual(changed.ok && changed.value);
    expect(await api["GET /orders"]({ query: { page: 2 } })).toMatchObject({ ok: true, value: [] });
    expect(await api["GET /orders"]()).toMatchObject({ ok: true, value: [{ id: 1 }] });
    const removed = await api["DELETE /orders/{order_id}"]({ path, headers: { authorization: "Bearer demo" } });
    expect(removed).toMatchObject({ ok: true, status: 204, value: undefined });
    expect(await api["GET /orders/{order_id}"]({ path })).toMatchObject({ ok: false, status: 404, error: "not_found" });
  });

  it("gets refusals by code, with every problem", async () => {
    const api = await opened();
    const soldOut = await api["POST /orders"]({ json: { item: "unicorn", quantity: 1 } });
    expect(soldOut).toMatchObject({
      status: 409,
      error: "sold_out",
      message: "There are no unicorns left.",
      problems: [],
    });
    const invalid = await api["POST /orders"]({ json: { item: "", quantity: 0.5 } });
    const places = invalid.ok ? [] : invalid.problems.map(({ at, code }) => `${at} ${code}`);
    expect(places).toEqual(["body.item too_short", "body.quantity unexpected_type"]);
    const signedOut = await api["DELETE /orders/{order_id}"]({ path: { order_id: 1 } });
    expect(signedOut).toMatchObject({ status: 401, error: "signed_out" });
    expect(signedOut.headers.get("www-authenticate")).toBe('Bearer realm="orders"');
    const gone = await make({ baseUrl: "http://127.0.0.1:1" });
    expect(await gone["GET /orders"]()).toMatchObject({ ok: false, status: 0, error: "unreachable" });
  });

  it("sends a file", async () => {
    const api = await opened();
    const text = (name: string) => new File([readFileSync(join(root, "examples/orders", name))], name);
    expect(await api["POST /orders/import"]({ form: { orders: text("orders.csv") } })).toMatchObject({
      value: { placed: 2 },
    });
    const wrong = await api["POST /orders/import"]({ form: { orders: text("wrong.csv") } });
    expect(!wrong.ok && wrong.problems[0]?.at).toBe("form.orders[3].item");
  });
});

describe.each(clients)("the orders example through $name: the feed", ({ make }) => {
  async function opened(fetch?: Options["fetch"]): Promise<Api> {
    const { port } = await start(routes, {
      maxBody,
      resources: [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())],
    });
    return make({ baseUrl: `http://127.0.0.1:${port}`, ...(fetch === undefined ? {} : { fetch }) });
  }

  it("follows the orders over a connection that is cut, without duplicates and gaps", async () => {
    const asked: (string | null)[] = [];
    const cuts: (() => void)[] = [];
    const api = await opened(async (request) => {
      const response = await globalThis.fetch(request);
      if (!request.url.endsWith("/feed")) return response;
      asked.push(request.headers.get("last-event-id"));
      const reader = response.body!.getReader();
      const body = new ReadableStream({
        start: (controller) => void cuts.push(() => controller.error(new TypeError("terminated"))),
        pull: async (controller) => {
          const { value } = await reader.read();
          if (value !== undefined) controller.enqueue(value);
        },
        cancel: () => reader.cancel(),
      });
      return new Response(body, response);
    });
    const place = (item: string) => api["POST /orders"]({ json: { item, quantity: 1 } });
    await place("paper");
    const feed = await api["GET /orders/feed"]();
    if (!feed.ok) throw new Error(feed.error);
    const seen: string[] = [];
    let last: string | undefined;
    for await (const event of feed.value) {
      const item = event.name === "placed" ? event.value.item : event.name;
      seen.push(item);
      if (item === "pen") last = event.id;
      if (item === "paper") await place("pen");
      if (item === "pen") {
        cuts[0]?.();
        await place("ruler");
      }
      if (item === "ruler") break;
    }
    expect(seen).toEqual(["paper", "pen", "ruler"]);
    expect(asked).toEqual([null, last]);
  });
});

const strict = {
  module: "nodenext",
  target: "es2023",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  noEmit: true,
};
const typeRoots = [join(root, "node_modules/@types")];
function compile(compiler: string, compilerOptions: object, files: readonly string[]): string {
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  try {
    return execFileSync(process.execPath, [join(root, compiler, "node_modules/typescript/bin/tsc"), "-p", folder], {
      encoding: "utf8",
    });
  } catch (thrown) {
    return (thrown as { stdout: string }).stdout || String(thrown);
  }
}

describe("the client that usher generates: compiles", () => {
  const browser = { lib: ["es2023", "dom"], types: [] };
  const ways = rows(
    [
      { name: "TypeScript 7 for a browser", compiler: ".", options: browser },
      { name: "TypeScript 7 for Node", compiler: ".", options: { lib: ["es2023"], types: ["node"], typeRoots } },
    ],
    [{ name: "TypeScript 5.9 for a browser", compiler: "test/package/consumer", options: browser }],
  );

  it.each(ways)("compiles by $name", ({ compiler, options }) => {
    expect(compile(compiler, { ...strict, ...options }, ["client.ts"])).toBe("");
  });
});

describe("the client that usher generates: types", () => {
  it("accepts and returns the same types as the typed client", () => {
    const paths = {
      "usher-http": [join(root, "src/index.ts")],
      "usher-http/conditional": [join(root, "src/representations/index.ts")],
      "usher-http/files": [join(root, "adapters/files/index.ts")],
    };
    const example = JSON.stringify(join(root, "examples/orders/routes.ts"));
    const program = `
      import type { Client as Typed } from "usher-http";
      import type { routes } from ${example};
      import type { Client as Made } from "./client.ts";
      declare const typed: Typed<typeof routes>;
      declare const made: Made;
      export const asTyped: Typed<typeof routes> = made;
      export const asMade: Made = typed;
    `;
    writeFileSync(join(folder, "both.ts"), program);
    const options = {
      ...strict,
      lib: ["es2023", "es2024.string"],
      types: ["node"],
      typeRoots,
      paths,
      allowImportingTsExtensions: true,
    };
    expect(compile(".", options, ["both.ts"])).toBe("");
  });

  it("knows a route's codes also without exactOptionalPropertyTypes", () => {
    const program = `
      import { Client, Dep, Path, Refusal, Returns, get } from "usher-http";
      const store = Dep.ofResource<Map<string, string>>("store");
      const declared = { inputs: { store }, returns: Returns.text, refuses: [Refusal.notFound] } as const;
      const found = get(Path.of("found"), declared, () => "");
      const came = await Client.of<[typeof found]>({ baseUrl: "" })["GET /found"]();
      export const isNotFound = !came.ok && came.error === "not_found";
      // @ts-expect-error a code that this route never answers
      export const isSoldOut = !came.ok && came.error === "sold_out";
    `;
    writeFileSync(join(folder, "plain.ts"), program);
    const paths = { "usher-http": [join(root, "dist/index.d.ts")] };
    const { module, target, strict: isStrict, noEmit } = strict;
    const options = { module, target, strict: isStrict, noEmit, lib: ["es2023"], types: ["node"], typeRoots, paths };
    expect(compile(".", options, ["plain.ts"])).toBe("");
  });
});

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseSync } from "oxc-parser";
import * as usher from "usher-http";
import * as bun from "usher-http/bun";
import * as client from "usher-http/client";
import * as answer from "usher-http/answer";
import * as codec from "usher-http/codec";
import * as cookie from "usher-http/cookie";
import * as event from "usher-http/event";
import * as form from "usher-http/form";
import * as header from "usher-http/header";
import * as path from "usher-http/path";
import * as query from "usher-http/query";
import * as returns from "usher-http/returns";
import * as socket from "usher-http/socket";
import * as compress from "usher-http/compress";
import * as conditional from "usher-http/conditional";
import * as languages from "usher-http/languages";
import * as deno from "usher-http/deno";
import * as files from "usher-http/files";
import * as jwt from "usher-http/jwt";
import * as node from "usher-http/node";
import * as oidc from "usher-http/oidc";
import * as postgres from "usher-http/postgres";
import * as redis from "usher-http/redis";
import * as mcp from "usher-http/mcp";
import * as scalar from "usher-http/scalar";
import * as tanstack from "usher-http/tanstack-query";
import * as whatwg from "usher-http/whatwg";
import * as workers from "usher-http/workers";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const entries = [
  { name: "usher-http", source: "src/index.ts", module: usher },
  { name: "usher-http/client", source: "src/client/index.ts", module: client },
  { name: "usher-http/compress", source: "adapters/compress/index.ts", module: compress },
  { name: "usher-http/conditional", source: "src/representations/index.ts", module: conditional },
  { name: "usher-http/languages", source: "src/languages/index.ts", module: languages },
  { name: "usher-http/files", source: "adapters/files/index.ts", module: files },
  { name: "usher-http/jwt", source: "adapters/jwt/index.ts", module: jwt },
  { name: "usher-http/node", source: "adapters/node/index.ts", module: node },
  { name: "usher-http/bun", source: "adapters/bun/index.ts", module: bun },
  { name: "usher-http/deno", source: "adapters/deno/index.ts", module: deno },
  { name: "usher-http/workers", source: "adapters/workers/index.ts", module: workers },
  { name: "usher-http/whatwg", source: "adapters/whatwg/index.ts", module: whatwg },
  { name: "usher-http/oidc", source: "adapters/oidc/index.ts", module: oidc },
  { name: "usher-http/postgres", source: "adapters/postgres/index.ts", module: postgres },
  { name: "usher-http/redis", source: "adapters/redis/index.ts", module: redis },
  { name: "usher-http/scalar", source: "adapters/scalar/index.ts", module: scalar },
  { name: "usher-http/tanstack-query", source: "adapters/tanstack-query/index.ts", module: tanstack },
  { name: "usher-http/mcp", source: "adapters/mcp/index.ts", module: mcp },
];

it("exports the names in exports.txt and no others", async () => {
  const text = entries.map(({ name, source, module }) => {
    return [`# ${name}`, ...valuesOf(module, ""), ...typesOf(source, "")].join("\n");
  });
  await expect(`${text.join("\n\n")}\n`).toMatchFileSnapshot("exports.txt");
});

it.each(entries)("the built exports of $name are those of its source", async ({ name, module }) => {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const { node, default: file } = exports[name.replace("usher-http", ".")] as { node?: string; default: string };
  for (const one of node === undefined ? [file] : [node, file]) {
    const built = (await import(/* @vite-ignore */ pathToFileURL(join(root, one)).href)) as object;
    expect(valuesOf(built, "")).toEqual(valuesOf(module, ""));
  }
});

// Their names are those of `exports.txt` for `usher-http`, with the namespace.
it.each(Object.entries({ answer, codec, cookie, event, form, header, path, query, returns, socket }))(
  "usher-http/%s is its namespace of usher-http",
  async (name, module) => {
    const namespace = `${name.charAt(0).toUpperCase()}${name.slice(1)}` as keyof typeof usher;
    expect(Object.entries(module)).toEqual(Object.entries(usher[namespace]));
    const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const file = `./dist/namespaces/${namespace}`;
    expect(exports[`./${name}`]).toEqual({ types: `${file}.d.ts`, default: `${file}.js` });
    const built = (await import(/* @vite-ignore */ pathToFileURL(join(root, `${file}.js`)).href)) as object;
    expect(valuesOf(built, "")).toEqual(valuesOf(module, ""));
  },
);

/** What is there at run time, with the members of a namespace and the statics of a class. */
function valuesOf(exported: object, prefix: string): string[] {
  const names = Object.keys(exported).toSorted();
  return names.flatMap((name) => {
    const value: unknown = Reflect.get(exported, name);
    const path = `${prefix}${name}`;
    const isNamespace = Object.prototype.toString.call(value) === "[object Module]";
    return isNamespace || typeof value === "function" ? [path, ...valuesOf(Object(value), `${path}.`)] : [path];
  });
}

/** The types, which are in the source alone. */
function typesOf(file: string, prefix: string): string[] {
  const { module } = parseSync(file, readFileSync(join(root, file), "utf8"));
  const exported = module.staticExports.flatMap(({ entries }) => entries);
  const names = exported.flatMap(({ exportName, importName, moduleRequest, isType }) => {
    const path = `${prefix}${exportName.name}`;
    // A namespace, which imports no one name of the module.
    if (moduleRequest && importName.name === null) {
      return typesOf(join(dirname(file), moduleRequest.value), `${path}.`);
    }
    return isType ? [`type ${path}`] : [];
  });
  return names.toSorted();
}

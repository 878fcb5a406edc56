/** Checks the direction of imports, and names each forbidden one with its reason. */
import { readFileSync, readdirSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";

/** The parts of src, from low to high: a part may import from its own line and those before it. */
const lines = [
  [
    "ambient.ts",
    "async.ts",
    "counted.ts",
    "fair-store.ts",
    "following.ts",
    "arguments.ts",
    "node-stream.ts",
    "oldest-first.ts",
    "packages.ts",
    "queue.ts",
    "result.ts",
    "runtime.ts",
  ],
  ["http"],
  ["codecs", "logging", "refusals.ts"],
  ["deferred.ts", "schema", "telemetry"],
  ["events"],
  ["exchange"],
  ["inputs"],
  ["html", "sockets"],
  ["answers"],
  ["routing"],
  ["languages", "representations", "security"],
  ["health.ts", "metrics.ts", "openapi"],
  ["app", "client", "database"],
  ["server", "testing"],
  ["doors"],
  ["index.ts"],
];
const packagesOfSrc = ["valibot", "node:async_hooks"];

/** The packages of which a folder of src imports types only. */
/** @type {{ readonly [folder: string]: readonly string[] }} */
const typesOfSrc = {
  telemetry: ["@opentelemetry/api", "@opentelemetry/exporter-trace-otlp-http"],
  "metrics.ts": ["@opentelemetry/api", "@opentelemetry/sdk-metrics", "@opentelemetry/exporter-prometheus"],
};

/** The packages that a folder of src imports on demand; each is an optional peer dependency. */
/** @type {{ readonly [folder: string]: readonly string[] }} */
const loadedBySrc = {
  telemetry: ["@opentelemetry/sdk-trace", "@opentelemetry/sdk-trace-base", "@opentelemetry/exporter-trace-otlp-http"],
  "metrics.ts": ["@opentelemetry/sdk-metrics", "@opentelemetry/exporter-prometheus"],
};

/** The packages of an adapter; each is an optional peer dependency. */
/** @type {{ readonly [adapter: string]: readonly string[] }} */
const packagesOfAdapters = {
  files: ["mrmime"],
  jwt: ["jose"],
  node: ["ws"],
  oidc: ["oauth4webapi", "valibot"],
  postgres: ["postgres"],
  redis: ["redis"],
  "tanstack-query": ["@tanstack/query-core"],
};

/**
 * The only import of src by a name that no bundler follows: an entry of this package that reads a file, loaded on demand.
 */
const lateImport = { file: "src/openapi/readers.ts", specifier: "entry" };

/** The files of src that the reader of the docs page imports. */
const readerImports = ["src/events/event-reader.ts", "src/inputs/wire-write.ts"];

/** The user's module, of which a command reads the routes. */
const loadedModule = { file: "cli/load-routes.ts", specifier: "url.href" };

/** The files of src that adapters may import, types too. */
/** @type {readonly string[]} */
const doors = JSON.parse(readFileSync(new URL("doors.json", import.meta.url), "utf8"));
/** Those that an adapter imports. @type {Set<string>} */
const used = new Set();

/** The doors of an adapter that serves routes and opens no sockets, for what the app does. */
const doorsOfApp = /** @type {{ readonly [part: string]: readonly string[] }} */ ({
  mcp: ["src/app/exchange.ts", "src/app/inner-call.ts"],
});

const wrong = [];
for (const folder of ["src", "adapters", "cli", "reader", "examples"]) {
  const root = fileURLToPath(new URL(`../${folder}`, import.meta.url));
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts")) continue;
    const file = join(folder, name);
    for (const { specifier, kind, line } of importsOf(file, readFileSync(join(root, name), "utf8"))) {
      const why = refusedBy(file, specifier, kind);
      if (why !== undefined) wrong.push(`${file}:${line} imports ${specifier}: ${why}`);
    }
  }
}
for (const door of doors) if (!used.has(door)) wrong.push(`scripts/doors.json lists ${door}, which no adapter imports`);
wrong.push(...missingInGuide(readFileSync(fileURLToPath(new URL("../CONTRIBUTING.md", import.meta.url)), "utf8")));
if (wrong.length > 0) {
  console.error(wrong.join("\n"));
  process.exit(1);
}

/** What the tables of CONTRIBUTING.md lack: each line of src, and each adapter. @param {string} guide */
function missingInGuide(guide) {
  const rows = guide.split("\n").flatMap((row) => {
    const [, first = ""] = /^\| (`[^|]*`) \|/.exec(row) ?? [];
    return first === "" ? [] : [[...first.matchAll(/`([^`]+)`/g)].map(([, name]) => name).toSorted()];
  });
  const adapters = readdirSync(fileURLToPath(new URL("../adapters", import.meta.url))).map((name) => [
    `adapters/${name}`,
  ]);
  return [...lines, ...adapters]
    .filter((parts) => {
      const isRow = rows.some((row) => row.join() === parts.toSorted().join());
      return !isRow && !(parts.length === 1 && rows.flat().includes(parts[0] ?? ""));
    })
    .map((parts) => `CONTRIBUTING.md has no row of ${parts.join(", ")}`);
}

/** Every import and re-export of a module. @param {string} file @param {string} text */
function importsOf(file, text) {
  const { module, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const { staticImports, staticExports, dynamicImports } = module;
  const lineAt = (/** @type {number} */ offset) => text.slice(0, offset).split("\n").length;
  const kindOf = (/** @type {readonly { isType: boolean }[]} */ entries) =>
    entries.length > 0 && entries.every(({ isType }) => isType) ? "types" : "run";
  return [
    ...staticImports.map(({ start, moduleRequest, entries }) => {
      return { specifier: moduleRequest.value, kind: kindOf(entries), line: lineAt(start) };
    }),
    ...staticExports.flatMap(({ start, entries }) => {
      const request = entries[0]?.moduleRequest;
      return request ? [{ specifier: request.value, kind: kindOf(entries), line: lineAt(start) }] : [];
    }),
    ...dynamicImports.map(({ start, moduleRequest }) => {
      const argument = text
        .slice(moduleRequest.start, moduleRequest.end)
        .replace(/\/\*.*?\*\//g, "")
        .trim();
      // A package that bundlers must not follow is a constant.
      const specifier = /^["']/.test(argument) ? argument.slice(1, -1) : constantOf(text, argument);
      return { specifier, kind: "loaded", line: lineAt(start) };
    }),
  ];
}

/** The value of a module's constant. @param {string} text @param {string} name */
function constantOf(text, name) {
  return new RegExp(`const ${name} = "([^"]+)"`).exec(text)?.[1] ?? name;
}

/** Why a file may not import that, if it may not. @param {string} file @param {string} specifier @param {string} kind */
function refusedBy(file, specifier, kind) {
  const [folder, part = ""] = file.split("/");
  const target = specifier.startsWith(".") ? join(dirname(file), specifier) : undefined;
  if (folder === "src") {
    if (file === lateImport.file && specifier === lateImport.specifier) return undefined;
    if (target === undefined)
      return packagesOfSrc.includes(specifier) ||
        (kind === "types" && typesOfSrc[part]?.includes(specifier)) ||
        (kind === "loaded" && loadedBySrc[part]?.includes(specifier))
        ? undefined
        : `src needs ${packagesOfSrc.join(" and ")} and nothing else`;
    return refusedInSrc(part, target);
  }
  if (folder === "cli") {
    const isLoaded = file === loadedModule.file && specifier === loadedModule.specifier;
    return isLoaded ? undefined : refusedInCli(specifier, target);
  }
  if (folder === "reader") return refusedInReader(target);
  if (target === undefined)
    return folder === "adapters" && !isBuiltin(specifier) && !packagesOfAdapters[part]?.includes(specifier)
      ? "an adapter needs its runtime and nothing else"
      : undefined;
  const home = join(folder ?? "", part);
  if (target.startsWith(`${home}/`)) return undefined;
  if (folder === "examples") return "an example imports the package by its name, as its users do";
  if (!target.startsWith("src/")) return "an adapter imports of src and of its own folder";
  if (target === "src/index.ts") return "an adapter imports what it needs, and not the front door";
  used.add(target);
  if (!doors.includes(target)) return "it is no door of src: see scripts/doors.json and CONTRIBUTING.md";
  const ofApp = doorsOfApp[part];
  const isOfApp = target.startsWith("src/app/") || target === "src/doors/apps.ts";
  return ofApp === undefined || !isOfApp || ofApp.includes(target)
    ? undefined
    : `of the app it imports ${ofApp.join(" and ")}`;
}

/** What a browser runs: it has no package. @param {string | undefined} target */
function refusedInReader(target) {
  if (target?.startsWith("reader/") || (target !== undefined && readerImports.includes(target))) return undefined;
  return `the reader imports its own folder, ${readerImports.join(" and ")}`;
}

/** The command line may import everything, and nothing may import it. @param {string} specifier @param {string | undefined} target */
function refusedInCli(specifier, target) {
  if (target === undefined)
    return isBuiltin(specifier) || specifier.startsWith("diff/")
      ? undefined
      : "the command line needs its runtime, and the package that is bundled into it";
  if (/^(cli|src|adapters)\//.test(target)) return undefined;
  return "the command line imports of src, of adapters and of its own folder";
}

/** @param {string} part @param {string} target */
function refusedInSrc(part, target) {
  const [root, targetPart = ""] = target.split("/");
  if (root !== "src") return "src imports nothing that lies outside it";
  const from = lines.findIndex((line) => line.includes(part));
  const to = lines.findIndex((line) => line.includes(targetPart));
  if (from === -1 || to === -1)
    return `${from === -1 ? part : targetPart} is on no line: put it on one in scripts/check-imports.mjs`;
  return to > from ? `${part} is below ${targetPart}` : undefined;
}

/** Bundles the package into `dist`: a file for each entry of package.json, the chunks that they share, and the declarations of each. */
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { readerScript } from "./reader.mjs";

/** @import { Plugin, RolldownPluginOption } from "rolldown" */
/** @typedef {{ readonly [name: string]: string }} Files Modules by the name that they have in `dist`. */
/** @typedef {{ readonly name: string, readonly holds: RegExp }} Chunk */
/** @typedef {{ readonly name: string, readonly file: string, readonly exporter: string }} Namespace What a module exports by `export * as`. */

const adapters = [
  "node",
  "bun",
  "deno",
  "workers",
  "whatwg",
  "postgres",
  "redis",
  "scalar",
  "tanstack-query",
  "files",
  "compress",
  "jwt",
  "mcp",
  "oidc",
];
/** @type {Files} */
const entries = {
  index: "src/index.ts",
  client: "src/client/index.ts",
  conditional: "src/representations/index.ts",
  languages: "src/languages/index.ts",
  ...Object.fromEntries(adapters.map((name) => [name, `adapters/${name}/index.ts`])),
};
/** @type {Files} */
const command = { cli: "cli/main.ts", "dev-program": "cli/dev-program.ts" };
/**
 * Entries for one runtime, with the types of another. It has no `node:fs`.
 *
 * @type {Files}
 */
const ofRuntimes = { "files-workerd": "adapters/files/workerd.ts" };
/** Packages that the command or one entry alone uses: they are part of its file, with their license, and are not installed. */
const packedIn = ["diff", "mrmime"];
/**
 * Scripts without a source map, which took 500 kB of the package: no program of a user steps into the command or into lists of
 * sentences, and the code of the tools is readable as it is.
 */
const withoutMap = [...Object.keys(command), "languages", "tools"];
/** @param {string} id */
const isPacked = (id) => packedIn.some((name) => id === name || id.startsWith(`${name}/`));

/** @param {string} root @param {readonly string[]} packages @param {readonly string[]} modules The files of a chunk. */
function licensesOf(root, packages, modules) {
  const found = packages.filter((name) => modules.some((id) => id.includes(`/node_modules/${name}/`)));
  return found.map((name) => `/*! Contains ${name}.\n\n${licenseIn(join(root, "node_modules", name))}*/\n`).join("");
}

/** @param {string} folder */
function licenseIn(folder) {
  const name = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
  if (name === undefined) throw new Error(`${folder} has no license: its code cannot be part of a bundle`);
  return readFileSync(join(folder, name), "utf8");
}

/**
 * A module goes into the first chunk that holds it, and takes along what it imports and no earlier chunk has.
 *
 * @type {readonly Chunk[]}
 */
const shared = [
  {
    name: "core",
    holds:
      /^src\/(?!index\.|client\/(index|received|open-socket)\.|languages\/|representations\/|openapi\/reader-script\.|database\/|doors\/(database|server)\.|server\/|testing\/)/,
  },
  { name: "testing", holds: /^src\/testing\// },
  { name: "representations", holds: /^src\/representations\/(?!index\.|public\.)/ },
  { name: "compression", holds: /^adapters\/compress\/(?!index\.)/ },
  { name: "tokens", holds: /^adapters\/jwt\/(?!index\.|(jose|pem)-exports\.)/ },
  { name: "tools", holds: /^adapters\/mcp\/(?!index\.)/ },
  { name: "site", holds: /^adapters\/files\/(assets|bundle|headers|routes|version)\./ },
  { name: "disk", holds: /^adapters\/files\/(read|store)\./ },
  { name: "sign-in", holds: /^adapters\/oidc\/(?!index\.|oidc\.|oauth-exports\.)/ },
  { name: "server", holds: /^src\/(server\/|doors\/server\.)/ },
  { name: "connections", holds: /^adapters\/node\/(connection|listen|peer-certificate|private|stream-writer)\./ },
  { name: "database", holds: /^(src\/database\/|src\/doors\/database\.|adapters\/postgres\/(?!index\.))/ },
];
/**
 * A page loads the typed client without the core, and the part that reads forms, text and streams of events when a call first
 * needs it.
 *
 * @type {readonly Chunk[]}
 */
const ofClient = [
  { name: "client-calls", holds: /^src\/(client\/of|events\/text-kinds|inputs\/wire-write)\./ },
  { name: "event-reader", holds: /^src\/events\/event-reader\./ },
  { name: "body-until", holds: /^src\/(following|queue|client\/body-until|http\/retry-after)\./ },
];

/**
 * Answers the files that it wrote, by their path in `dist`.
 *
 * @param {string} root The package's folder.
 * @param {RolldownPluginOption} [plugin] What else the scripts are made with.
 */
export async function bundlePackage(root, plugin) {
  const declarations = dts({ generator: "oxc", emitDtsOnly: true, tsconfig: false });
  return [
    ...(await bundle(root, {
      files: { ...entries, ...ofRuntimes, ...command },
      chunks: [...ofClient, ...shared],
      plugin,
    })),
    ...(await joinNamespaces(root, "index")),
    ...(await joinNamespaces(root, "postgres")),
    ...(await bundle(root, { files: entries, chunks: shared, plugin: declarations, suffix: ".d" })),
  ];
}

/**
 * @param {string} root
 * @param {{ files: Files, chunks: readonly Chunk[], plugin: RolldownPluginOption, suffix?: string }} what `suffix` ends a chunk's name.
 */
async function bundle(root, { files, chunks, plugin, suffix = "" }) {
  const namespaces = namespacesIn(root, Object.values(files));
  const input = [...Object.entries(files), ...namespaces.map(({ name, file }) => [`namespaces/${name}`, file])];
  const build = await rolldown({
    input: Object.fromEntries(input.map(([name, file = ""]) => [name, join(root, file)])),
    platform: "neutral",
    tsconfig: false,
    external: (id) => /^[^./]/.test(id) && !isPacked(id),
    checks: { bundlerTimings: false },
    plugins: [namespacesApart(root, namespaces), readerScript(root), plugin, ascii],
  });
  const { output } = await build.write({
    dir: join(root, "dist"),
    format: "esm",
    sourcemap: suffix === "",
    minifyInternalExports: false,
    footer: ({ moduleIds }) => licensesOf(root, packedIn, moduleIds),
    comments: { legal: true, annotation: true, jsdoc: suffix !== "" },
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
    codeSplitting: {
      groups: chunks.map(({ name, holds }, place) => ({
        name: `${name}${suffix}`,
        test: (id) => holds.test(relative(root, id)),
        priority: chunks.length - place,
      })),
    },
  });
  await build.close();
  const maps = withoutMap.map((name) => `${name}.js.map`);
  if (suffix === "") for (const map of maps) removeMap(join(root, "dist", map));
  return output.map(({ fileName }) => fileName).filter((name) => !maps.includes(name));
}

/** Removes a source map, and the line that names it: a debugger would ask for the file. @param {string} map */
function removeMap(map) {
  rmSync(map);
  const script = map.slice(0, -".map".length);
  const text = readFileSync(script, "utf8");
  writeFileSync(
    script,
    text
      .replace(`//# sourceMappingURL=${basename(map)}`, "")
      .trimEnd()
      .concat("\n"),
  );
}

/**
 * Bundles `create-usher` into one file, with the packages that it uses: `npm create` then installs one package.
 *
 * @param {string} root
 */
export async function bundleCreate(root) {
  const build = await rolldown({
    input: { main: join(root, "create-usher/src/main.ts") },
    platform: "node",
    tsconfig: false,
    checks: { bundlerTimings: false },
  });
  await build.write({
    dir: join(root, "create-usher/dist"),
    cleanDir: true,
    format: "esm",
    footer: ({ moduleIds }) => licensesOf(root, packagesOf(moduleIds), moduleIds),
    comments: { legal: true, annotation: true, jsdoc: false },
    entryFileNames: "[name].js",
  });
  await build.close();
}

/**
 * Writes every character outside of ASCII as an escape. One `…` makes V8 keep a file as two bytes a character: a program of one
 * route takes 70.3 MB and not 72.3 (Node 24).
 *
 * @type {Plugin}
 */
const ascii = {
  name: "ascii",
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === "chunk" && file.fileName.endsWith(".js")) file.code = file.code.replace(/[^\0-\x7f]/g, escaped);
  },
};

/** @param {string} unit A UTF-16 code unit. */
function escaped(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The packages that modules are of. @param {readonly string[]} modules */
function packagesOf(modules) {
  return [...new Set(modules.flatMap((id) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []))];
}

const exportedNamespace = /^export \* as (\w+) from "(.+)";$/gm;

/** @param {string} root @param {readonly string[]} files @returns {readonly Namespace[]} */
function namespacesIn(root, files) {
  return files.flatMap((exporter) => {
    const found = [...readFileSync(join(root, exporter), "utf8").matchAll(exportedNamespace)];
    const here = found.map(([, name = "", from = ""]) => ({ name, file: join(dirname(exporter), from), exporter }));
    const files = here.map(({ file }) => file);
    return [...here, ...namespacesIn(root, files)];
  });
}

/**
 * Keeps what is exported by `export * as` a module of its own. As an object in a chunk it would have all of its members in the
 * bundle of a program that uses one: a hello world by rolldown would be 40 kB gzipped and not 25.
 *
 * @param {string} root
 * @param {readonly Namespace[]} namespaces
 * @returns {Plugin}
 */
function namespacesApart(root, namespaces) {
  /** @param {string} id */
  const exportedBy = (id) => namespaces.filter(({ exporter }) => join(root, exporter) === id);
  return {
    name: "namespaces-apart",
    transform: {
      order: "pre",
      handler(code, id) {
        const rest = code.replaceAll(exportedNamespace, "");
        if (rest !== code && exportedBy(id).length === 0) this.error(`${id} exports a namespace, but is no entry`);
        // No line goes, so that the source map stays right.
        return { code: rest, map: null };
      },
    },
    renderChunk: {
      order: "post",
      handler(code, { facadeModuleId, fileName }) {
        const own = exportedBy(facadeModuleId?.replace(/\.d\.ts$/, ".ts") ?? "");
        const folder = dirname(fileName) === "namespaces" ? "." : "./namespaces";
        const lines = own.map(({ name }) => `export * as ${name} from "${folder}/${name}.js";\n`);
        return lines.length === 0 ? null : { code: `${code}\n${lines.join("")}`, map: null };
      },
    },
  };
}

/**
 * Writes an entry again for runtimes, with its namespaces as objects in it: Node takes a quarter of a millisecond to load a file,
 * and a program of one route starts in 109 ms and not in 117.
 *
 * @param {string} root
 * @param {string} entry
 */
async function joinNamespaces(root, entry) {
  const build = await rolldown({
    input: { [`${entry}-node`]: join(root, "dist", `${entry}.js`) },
    platform: "neutral",
    tsconfig: false,
    plugins: [
      {
        name: "chunks-apart",
        resolveId(id, importer) {
          const file = importer === undefined ? "" : relative(join(root, "dist"), resolve(dirname(importer), id));
          return importer === undefined || dirname(file) === "namespaces"
            ? undefined
            : { id: `#${file}`, external: true };
        },
      },
    ],
  });
  const { output } = await build.write({
    dir: join(root, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    minifyInternalExports: false,
    paths: (id) => id.replace("#", "./"),
  });
  await build.close();
  return output.map(({ fileName }) => fileName);
}

/**
 * Compiles the sources to JavaScript files, which a run of the tests loads as Node loads any module. Vite would send each of
 * 200 modules to each process on its own, and its form of an import makes each call of another module slower: a process
 * took 0.35 s of processor time more to load them, and the tests a seventh more to run.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { transform } from "rolldown/experimental";

/** @import { Plugin } from "vitest/config" */
/** @typedef {{ readonly [file: string]: string }} Files The compiled file of each source. */

/** Each project of a run asks. @type {Promise<Files> | undefined} */
let compiled;

/**
 * A watching run loads the sources by Vite: a file that Node loaded stays as it was.
 *
 * @param {string} root The package's folder.
 * @returns {Plugin}
 */
export function compiledSources(root) {
  const folder = join(root, ".sources");
  /** @type {Files} */
  let files = {};
  return {
    name: "compiled-sources",
    enforce: "pre",
    config: () => ({ test: { server: { deps: { external: [/\/\.sources\//] } } } }),
    async configureVitest({ vitest, project }) {
      if (vitest.config.watch) return;
      files = await (compiled ??= compileAll(root, join(folder, String(process.pid)), project.vite.config.plugins));
    },
    resolveId(id, importer) {
      return files[importer !== undefined && id.startsWith(".") ? resolve(dirname(importer), id) : id];
    },
  };
}

/** @param {string} root @param {string} folder @param {readonly Plugin[]} plugins @returns {Promise<Files>} */
async function compileAll(root, folder, plugins) {
  removeEnded(dirname(folder));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const changes = plugins.flatMap(({ name, transform }) =>
    (name === "reader-script" || name === "usher-coverage") && typeof transform === "function" ? [transform] : [],
  );
  const sources = ["src", "adapters"].flatMap((part) =>
    readdirSync(join(root, part), { recursive: true, encoding: "utf8" }).map((file) => join(root, part, file)),
  );
  /** @type {[source: string, file: string][]} */
  const all = [];
  for (const source of sources.filter((file) => file.endsWith(".ts"))) {
    const file = join(folder, relative(root, source).replace(/\.ts$/, ".js"));
    let text = readFileSync(source, "utf8");
    for (const change of changes) {
      const changed = await change.call(/** @type {any} */ ({}), text, source);
      if (changed !== null && typeof changed === "object") text = String(changed.code);
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, await javaScriptOf(source, text));
    all.push([source, file]);
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  return Object.fromEntries(all);
}

/** What a source imports by the package's own name is a compiled one, too. */
const manifest = { name: "usher-http", type: "module", exports: { "./*": "./adapters/*/index.js" } };

/** @param {string} source @param {string} text */
async function javaScriptOf(source, text) {
  const { code, map, errors } = await transform(source, text, {
    lang: "ts",
    sourcemap: true,
    typescript: { rewriteImportExtensions: "rewrite" },
  });
  if (errors.length > 0) throw new Error(`${source}: ${errors[0]?.message}`);
  const url = Buffer.from(JSON.stringify({ ...map, sources: [source] })).toString("base64");
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${url}\n`;
}

/** Removes what a run left that was killed. @param {string} folder */
function removeEnded(folder) {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) {
    if (!isRunning(Number(name))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

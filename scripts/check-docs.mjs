/**
 * Checks the documentation: every snippet compiles, every value of the package is on a page that a person wrote, and every public
 * name has TSDoc. Links are checked by `check-links.mjs`.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { wrongSnippets } from "./docs/snippets.mjs";
import { withoutTsdoc } from "./docs/tsdoc.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const pages = ["README.md", ...pagesIn("docs")];
const wrong = [...wrongSnippets(root, pages), ...missingNames(), ...withoutTsdoc(root)];
if (wrong.length > 0) {
  console.error(wrong.join("\n"));
  process.exit(1);
}

/** @param {string} folder @returns {string[]} */
function pagesIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(?:\.|node_modules$|reference$)/.test(entry.name) ? [] : pagesIn(path);
    return path.endsWith(".md") ? [path] : [];
  });
}

/** Values of the package, `Query.list` by its whole name, that no page has. The reference, which is made, has them all. */
function missingNames() {
  const text = pages.map((page) => readFileSync(join(root, page), "utf8")).join("\n");
  const names = readFileSync(join(root, "test/package/exports.txt"), "utf8").split("\n");
  return [...new Set(names)].flatMap((name) => {
    if (!/^[\w.]+$/.test(name)) return [];
    const found = new RegExp(String.raw`(?<![\w.])${name.replaceAll(".", String.raw`\.`)}(?!\w)`).test(text);
    return found ? [] : [`${name} is on no page of docs/`];
  });
}

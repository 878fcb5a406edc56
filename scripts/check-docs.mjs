/**
 * Checks the documentation: every snippet compiles and is as wide as the site's column, and every value of the package is on a page that a
 * person wrote. Every public name has TSDoc, and a page of the reference. Links are checked by `check-links.mjs`. With `--format` it formats
 * the snippets.
 */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { familyOf, families } from "../docs/.vitepress/families.mjs";
import { formatPage, wideLines } from "./docs/format.mjs";
import { wrongSnippets } from "./docs/snippets.mjs";
import { withoutTsdoc } from "./docs/tsdoc.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const pages = ["README.md", ...pagesIn("docs")];
const unformatted = await formatted(process.argv.includes("--format"));
if (process.argv.includes("--format")) process.exit(0);
const wrong = [
  ...unformatted,
  ...wrongSnippets(root, pages),
  ...missingNames(),
  ...namesWithoutFamily(),
  ...withoutTsdoc(root),
];
if (wrong.length > 0) {
  console.error(wrong.join("\n"));
  process.exit(1);
}

/**
 * Formats the code of the pages of the site, or names what is not formatted. The programs of the tutorial are formatted as the files of
 * `examples/tutorial`, and the README is not a page of the site.
 *
 * @param {boolean} isWritten @returns {Promise<string[]>}
 */
async function formatted(isWritten) {
  const ours = pages.filter((page) => !/^(?:README\.md|docs\/tutorial\/)/.test(page));
  const found = ours.map(async (page) => {
    const text = readFileSync(join(root, page), "utf8");
    const made = await formatPage(text);
    if (isWritten && made !== text) writeFileSync(join(root, page), made);
    const differs = isWritten || made === text ? [] : [`${page}: its code is not formatted: run npm run docs:format`];
    return [...differs, ...wideLines(page, text)];
  });
  return (await Promise.all(found)).flat();
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

/** Exports of a large entry for which the reference has no page. */
function namesWithoutFamily() {
  const text = readFileSync(join(root, "test/package/exports.txt"), "utf8");
  return Object.keys(families).flatMap((entry) => {
    const [, lines = ""] = new RegExp(String.raw`^# ${entry}\n([^#]*)`, "m").exec(text) ?? [];
    const names = lines.split("\n").map((line) => line.replace(/^type /, ""));
    const namespaces = new Set(names.flatMap((name) => /^(\w+)\./.exec(name)?.[1] ?? []));
    const own = new Set(names.filter((name) => /^\w+$/.test(name)));
    const bare = [...own].filter((name) => familyOf(entry, name, [...namespaces]) === undefined);
    return bare.map((name) => `docs/.vitepress/families.mjs has no page for ${name} of ${entry}`);
  });
}

/** Checks the links of the markdown files within this repository: the file, and the heading in it. */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
// docs/reference is made by `npm run docs`, whose test follows its links.
const elsewhere = new Set([".git", "node_modules", "dist", "reference"]);

const wrong = markdownIn(".").flatMap((file) =>
  linksOf(textOf(file)).flatMap((link) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? file : join(dirname(file), decodeURIComponent(path));
    if (!existsSync(join(root, target))) return [`${file}: ${link} is not there`];
    if (anchor === undefined || anchorsOf(target).includes(anchor)) return [];
    return [`${file}: ${link} names a heading that is not there`];
  }),
);
if (wrong.length > 0) {
  console.error(wrong.join("\n"));
  process.exit(1);
}

/** @param {string} folder @returns {string[]} */
function markdownIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return elsewhere.has(entry.name) ? [] : markdownIn(path);
    return path.endsWith(".md") ? [path] : [];
  });
}

/** A file's text without its code. @param {string} file */
function textOf(file) {
  return readFileSync(join(root, file), "utf8").replace(/^```.*?^```/gms, "");
}

/** @param {string} text */
function linksOf(text) {
  return [...text.replace(/`[^`\n]*`/g, "").matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)/gm)].map(
    ([, inline, apart]) => inline ?? apart ?? "",
  );
}

/** The anchors that GitHub gives a file's headings. @param {string} file */
function anchorsOf(file) {
  if (!statSync(join(root, file)).isFile()) return [];
  return [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

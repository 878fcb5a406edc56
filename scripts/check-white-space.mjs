/**
 * Checks that code which reads HTTP fields strips only SP and HTAB (RFC 9110 §5.6.3). It names each `trim()` and each `\s`
 * of a pattern, which also match U+00A0 and others. Use `stripped` of src/http/fields.ts.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Visitor, parseSync } from "oxc-parser";

/** Files and folders that read no HTTP field, and what they read. @type {Readonly<Record<string, string>>} */
const others = {
  "adapters/postgres/": "SQL, and connection strings",
  "src/database/": "SQL, and what its server says",
  "src/logging/": "settings of the application's, and stacks",
  "src/schema/valibot.ts": "Valibot's own `trim`, of a member of JSON",
};
const trims = new Set(["trim", "trimStart", "trimEnd", "trimLeft", "trimRight"]);

const root = fileURLToPath(new URL("..", import.meta.url));
const used = new Set();
const wrong = ["src", "adapters"].flatMap(filesIn).flatMap((file) => {
  const found = foundIn(file);
  const other = Object.keys(others).find((path) => file.startsWith(path));
  if (other === undefined) return found;
  if (found.length > 0) used.add(other);
  return [];
});
for (const path of Object.keys(others)) {
  if (!used.has(path)) wrong.push(`scripts/check-white-space.mjs: ${path} has none any more, and need not be listed`);
}
if (wrong.length > 0) {
  console.error(wrong.join("\n"));
  process.exit(1);
}

/** @param {string} folder @returns {string[]} */
function filesIn(folder) {
  const entries = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return entries.filter((name) => name.endsWith(".ts")).map((name) => join(folder, name));
}

/** @param {string} file @returns {string[]} */
function foundIn(file) {
  const text = readFileSync(join(root, file), "utf8");
  /** @type {string[]} */
  const found = [];
  /** @param {number} at @param {string} what */
  const add = (at, what) => {
    const line = text.slice(0, at).split("\n").length;
    found.push(`${file}:${line} ${what}, which takes more than SP and HTAB: see src/http/fields.ts`);
  };
  const { program } = parseSync(file, text);
  new Visitor({
    MemberExpression({ property, start }) {
      const name =
        property.type === "Identifier" ? property.name : property.type === "Literal" ? property.value : undefined;
      if (typeof name === "string" && trims.has(name)) add(start, `calls ${name}`);
    },
    Literal(literal) {
      const pattern = "regex" in literal ? literal.regex.pattern : literal.value;
      if (typeof pattern === "string" && matchesBlanks(pattern)) add(literal.start, "has \\s");
    },
    TemplateElement({ start, value }) {
      if (matchesBlanks(value.cooked ?? "")) add(start, "has \\s");
    },
  }).visit(program);
  return found;
}

/** Whether a pattern has `\s` or `\S`; after an escaped backslash, it is the letter. @param {string} pattern */
function matchesBlanks(pattern) {
  return /(?<!\\)(?:\\\\)*\\s/i.test(pattern);
}

/**
 * Checks the layout of the files (CONTRIBUTING.md): no type name is declared in two files, and the imports between folders
 * of src, types included, have no circle. Only a `private.ts` names a member that begins with `_`: such members are undocumented.
 * Lengths are reported and fail nothing: `node scripts/check-house.mjs --lengths` lists them.
 */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { Visitor, parseSync } from "oxc-parser";

/** Reported: a file with fewer lines and one importer may belong into that importer. */
const shortLines = 40;
/** Reported: files and `describe` blocks of tests that are longer. */
const longFile = 400;
const longBlock = 80;

/** Members that begin with `_` and are documented: of each message of the Model Context Protocol, and of a form (RFC 7578 §4.6). */
const documented = new Set(["_meta", "_charset_"]);

const root = fileURLToPath(new URL("..", import.meta.url));
const files = ["src", "adapters", "cli", "reader", "create-usher/src"].flatMap(filesIn);
const lengths = [...shortFiles(), ...longTests()];
console.log(`${lengths.length} lengths to look at: npm run house -- --lengths lists them`);
if (process.argv.includes("--lengths")) console.log(lengths.join("\n"));
const wrong = [...sharedNames(), ...circles(), ...undocumented()];
if (wrong.length > 0) {
  console.error(wrong.join("\n"));
  process.exit(1);
}

/**
 * @typedef {object} SourceFile
 * @property {string} path
 * @property {number} lines
 * @property {readonly string[]} types The types it declares.
 * @property {readonly string[]} aliases Those that are only another name of a type.
 * @property {readonly string[]} imports The files that it imports.
 * @property {readonly string[]} namespaces Those that it exports as a namespace.
 * @property {boolean} isList Whether it only re-exports.
 * @property {readonly string[]} underscored The members that it names with a `_`.
 */

/** @param {string} folder @returns {SourceFile[]} */
function filesIn(folder) {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".ts")).map((name) => read(join(folder, name)));
}

/** @param {string} path @returns {SourceFile} */
function read(path) {
  const text = readFileSync(join(root, path), "utf8");
  const { program } = parseSync(path, text);
  /** @type {Set<string>} */
  const underscored = new Set();
  /** @param {import("oxc-parser").PropertyKey} key */
  const note = (key) => {
    const member = key.type === "Identifier" ? key.name : "value" in key ? key.value : undefined;
    if (typeof member === "string" && /^_[a-z]\w*$/.test(member)) underscored.add(member);
  };
  new Visitor({
    MemberExpression: ({ computed, property }) => void (computed || note(property)),
    Property: ({ computed, key }) => void (computed || note(key)),
    TSPropertySignature: ({ computed, key }) => void (computed || note(key)),
    Literal: note,
  }).visit(program);
  const declared = program.body.map((statement) => {
    return statement.type === "ExportNamedDeclaration" ? (statement.declaration ?? statement) : statement;
  });
  const kinds = new Set(["TSInterfaceDeclaration", "TSTypeAliasDeclaration", "ClassDeclaration"]);
  return {
    path,
    lines: text.split("\n").length - 1,
    types: declared.flatMap((statement) =>
      kinds.has(statement.type) && "id" in statement && statement.id?.type === "Identifier" ? [statement.id.name] : [],
    ),
    aliases: declared.flatMap((statement) =>
      statement.type === "TSTypeAliasDeclaration" && statement.typeAnnotation.type === "TSTypeReference"
        ? [statement.id.name]
        : [],
    ),
    imports: [...text.matchAll(/^(?:import|export|\}) ?[^;]*?from "(\.[^"]+)";/gm)].map(([, to]) => resolved(path, to)),
    namespaces: [...text.matchAll(/^export \* as \w+ from "(\.[^"]+)";/gm)].map(([, to]) => resolved(path, to)),
    underscored: [...underscored],
    isList: program.body.every(
      (statement) => statement.type === "ExportNamedDeclaration" && statement.declaration === null,
    ),
  };
}

/** @param {string} path */
function isNamespace(path) {
  return files.some(({ namespaces }) => namespaces.includes(path));
}

/** @param {string} path @param {string | undefined} to */
function resolved(path, to) {
  return join(dirname(path), to ?? "");
}

function undocumented() {
  return files.flatMap(({ path, underscored }) => {
    if (path.endsWith("/private.ts")) return [];
    return underscored
      .filter((member) => !documented.has(member))
      .map((member) => `${path} names the undocumented ${member}: only a private.ts may`);
  });
}

/** An `index.ts` declares a type again to export it with the namespace of the same name. The reader and `create-usher` are other programs. */
function sharedNames() {
  /** @type {Map<string, string[]>} */
  const places = new Map();
  for (const { path, types, aliases } of files) {
    if (path.endsWith("/index.ts") || /^(reader|create-usher)\//.test(path)) continue;
    const own = isNamespace(path) ? types.filter((name) => !aliases.includes(name)) : types;
    for (const name of own) places.set(name, [...(places.get(name) ?? []), path]);
  }
  return [...places].flatMap(([name, paths]) => {
    return paths.length > 1
      ? [`the type ${name} is declared in ${paths.join(" and ")}: give each a name of its own`]
      : [];
  });
}

/** Namespaces, lists of exports and `private.ts` may be short. */
function shortFiles() {
  return files.flatMap(({ path, lines, isList }) => {
    const importers = files.filter(({ imports }) => imports.includes(path));
    const standsAlone = isList || isNamespace(path) || path.endsWith("/private.ts");
    if (lines >= shortLines || importers.length !== 1 || standsAlone) return [];
    return [`${path} has ${lines} lines, and only ${importers[0]?.path} imports it`];
  });
}

function circles() {
  /** @type {Map<string, Set<string>>} */
  const targets = new Map();
  for (const { path, imports } of files) {
    if (!path.startsWith("src/") || path === "src/index.ts") continue;
    const from = roomOf(path);
    const others = imports.map(roomOf).filter((room) => room !== from);
    targets.set(from, new Set([...(targets.get(from) ?? []), ...others]));
  }
  return [...targets.keys()].flatMap((room) => {
    const way = wayBack(room, room, targets, new Set());
    return way === undefined ? [] : [`src: ${[room, ...way].join(" imports ")}`];
  });
}

/** The folder of a file of src, or the file itself where it is in none. @param {string} path */
function roomOf(path) {
  return path.split("/")[1] ?? path;
}

/**
 * @param {string} at @param {string} home @param {ReadonlyMap<string, ReadonlySet<string>>} targets @param {Set<string>} seen
 * @returns {string[] | undefined}
 */
function wayBack(at, home, targets, seen) {
  for (const next of targets.get(at) ?? []) {
    if (next === home) return [home];
    if (seen.has(next)) continue;
    seen.add(next);
    const way = wayBack(next, home, targets, seen);
    if (way !== undefined) return [next, ...way];
  }
  return undefined;
}

function longTests() {
  const names = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const tests = names.filter((name) => /\.(?:ts|mjs)$/.test(name) && !name.includes("node_modules/"));
  return tests.toSorted().flatMap((name) => {
    const path = join("test", name);
    const text = readFileSync(join(root, path), "utf8");
    const lines = text.split("\n").length - 1;
    const blocks = path.endsWith(".ts") ? longBlocksOf(path, text) : [];
    return lines > longFile ? [`${path} has ${lines} lines`, ...blocks] : blocks;
  });
}

/** @param {string} path @param {string} text */
function longBlocksOf(path, text) {
  /** @param {number} at */
  const lineOf = (at) => text.slice(0, at).split("\n").length;
  /** @type {string[]} */
  const long = [];
  new Visitor({
    CallExpression({ callee, start, end }) {
      if (!/^describe\b/.test(text.slice(callee.start, callee.end))) return;
      const lines = lineOf(end) - lineOf(start) + 1;
      // `describe.each(rows)` is a call too, and ends before the block.
      if (lines > longBlock) long.push(`${path}:${lineOf(start)}: a describe block of ${lines} lines`);
    },
  }).visit(parseSync(path, text).program);
  return long;
}

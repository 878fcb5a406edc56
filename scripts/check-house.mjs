/**
 * Checks the layout of the files (CONTRIBUTING.md): no type name is declared in two files, no function name in four with four meanings, and the imports between folders
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

/** The most files that may declare a function of one name, if the functions differ. */
const maxMeanings = 3;

/** Members that begin with `_` and are documented: of each message of the Model Context Protocol, and of a form (RFC 7578 §4.6). */
const documented = new Set(["_meta", "_charset_"]);

const root = fileURLToPath(new URL("..", import.meta.url));
const files = ["src", "adapters", "cli", "reader", "create-usher/src"].flatMap(filesIn);
const lengths = [...shortFiles(), ...longTests()];
console.log(`lengths to look at: ${lengths.length}, which npm run house -- --lengths lists`);
if (process.argv.includes("--lengths")) console.log(lengths.join("\n"));
const wrong = [...sharedNames(), ...sharedFunctions(), ...circles(), ...undocumented()];
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
 * @property {readonly (readonly [name: string, code: string, isExported: boolean])[]} functions The functions that it declares.
 * @property {readonly string[]} imports The files that it imports.
 * @property {readonly string[]} namespaces Those that it exports as a namespace.
 * @property {readonly (readonly [path: string, name: string])[]} reexports What it exports by a list: of another file, or of its own.
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
    functions: declared.flatMap((statement, index) => {
      const isExported = program.body[index]?.type === "ExportNamedDeclaration";
      return functionsOf(statement).map(
        ([name, { start, end }]) => /** @type {const} */ ([name, text.slice(start, end), isExported]),
      );
    }),
    imports: [...text.matchAll(/^(?:import|export|\}) ?[^;]*?from "(\.[^"]+)";/gm)].map(([, to]) => resolved(path, to)),
    namespaces: [...text.matchAll(/^export \* as \w+ from "(\.[^"]+)";/gm)].map(([, to]) => resolved(path, to)),
    reexports: program.body.flatMap((statement) =>
      statement.type !== "ExportNamedDeclaration"
        ? []
        : statement.specifiers.map(({ local }) => {
            const name = "name" in local ? local.name : local.value;
            return /** @type {const} */ ([
              statement.source === null ? path : resolved(path, statement.source.value),
              name,
            ]);
          }),
    ),
    underscored: [...underscored],
    isList: program.body.every(
      (statement) => statement.type === "ExportNamedDeclaration" && statement.declaration === null,
    ),
  };
}

/**
 * The functions that a statement declares.
 *
 * @param {import("oxc-parser").Statement | import("oxc-parser").Declaration} statement
 * @returns {(readonly [name: string, node: import("oxc-parser").Span])[]}
 */
function functionsOf(statement) {
  if (statement.type === "FunctionDeclaration" && statement.id) return [[statement.id.name, statement]];
  if (statement.type !== "VariableDeclaration") return [];
  return statement.declarations.flatMap(({ id, init }) =>
    init?.type === "ArrowFunctionExpression" && id.type === "Identifier" ? [[id.name, init]] : [],
  );
}

/**
 * A name of a namespace (`Rate.make`, `Query.list`) is read with its namespace, and the same code has one meaning. The reader and
 * `create-usher` are other programs.
 */
function sharedFunctions() {
  /** @type {Map<string, Map<string, string>>} */
  const meanings = new Map();
  for (const { path, functions } of files) {
    if (/^(reader|create-usher)\//.test(path)) continue;
    for (const [name, code, isExported] of functions) {
      if (isPublic(path, name, isExported)) continue;
      const known = meanings.get(name) ?? new Map();
      const key = code.replaceAll(/\s+/g, " ");
      if (![...known.values()].includes(path)) meanings.set(name, known.set(key, path));
    }
  }
  return [...meanings].flatMap(([name, places]) => {
    if (places.size <= maxMeanings) return [];
    return [
      `the function ${name} is ${places.size} functions, in ${[...places.values()].join(" and ")}: say in each name what it gives`,
    ];
  });
}

/** Whether a namespace exports it, from its own file or another. @param {string} path @param {string} name @param {boolean} isExported */
function isPublic(path, name, isExported) {
  const exporters = files.filter(({ path }) => isNamespace(path) || path === "src/index.ts");
  const byName = exporters.some(({ reexports }) => reexports.some(([from, local]) => from === path && local === name));
  return byName || (isExported && isNamespace(path));
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

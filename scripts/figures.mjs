/**
 * Prints how large the house is, and how many states it has: `npm run figures`. The table of CONTRIBUTING.md has them, and names the
 * tests that count the others.
 */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { Visitor, parseSync } from "oxc-parser";

/** The classes whose fields say where a request is. */
const ofRequests = new Set(["RequestState", "Ending", "RequestDeadline", "BodyReading", "OpenStream"]);
/** Listed: classes with more of each. */
const maxFields = 9;
const maxBooleans = 2;

/**
 * @typedef {object} Class
 * @property {string} name
 * @property {number} mutable The number of its fields that change.
 * @property {number} booleans How many of them are booleans.
 * @property {readonly string[]} from What it extends and implements.
 */
/**
 * @typedef {object} SourceFile
 * @property {string} path
 * @property {number} lines
 * @property {readonly string[]} imports The files that it imports.
 * @property {readonly Class[]} classes
 * @property {readonly string[]} functions The functions that it declares.
 * @property {readonly string[]} calls The functions that it calls.
 */

const root = fileURLToPath(new URL("..", import.meta.url));
const files = ["src", "adapters", "cli", "reader", "create-usher/src"].flatMap(filesIn);
const classes = files.flatMap((file) => file.classes);
const app = files.filter(({ path }) => path.startsWith("src/app/"));
const adapters = files.filter(({ path }) => path.startsWith("adapters/"));

const held = classes.filter(({ name }) => ofRequests.has(name));
const large = classes.filter(({ mutable }) => mutable > maxFields);
const flagged = classes.filter(({ booleans }) => booleans > maxBooleans);
const doors = new Set(adapters.flatMap(({ imports }) => imports).filter((path) => path.startsWith("src/")));
const bodies = adapters
  .filter(({ path }) => path.startsWith("adapters/node/"))
  .flatMap((file) => file.classes.filter(({ from }) => from.includes("BodySource")));
const hello = JSON.parse(readFileSync(join(root, "test/package/sizes.json"), "utf8"))["hello world"];

/** @type {readonly (readonly [what: string, figures: string])[]} */
const rows = [
  [`mutable fields of ${[...ofRequests].join(", ")}`, numbers(sum(held.map(({ mutable }) => mutable)), held.length)],
  ["readers of a streamed body", numbers(callsOf("readParts"))],
  ["registries of open things", numbers(classes.filter(({ name }) => name === "OpenThings").length)],
  ["readers of a body on Node", numbers(bodies.length)],
  ["functions listenAt", numbers(files.flatMap(({ functions }) => functions).filter((f) => f === "listenAt").length)],
  ["src/app: files, lines, floors", numbers(app.length, sum(app.map(({ lines }) => lines)), floorsOf(app))],
  ["doors: files of src that adapters import", numbers(doors.size)],
  ["source: files, lines", numbers(files.length, sum(files.map(({ lines }) => lines)))],
  ["hello world, minified and gzipped, in bytes: esbuild, Rolldown", numbers(hello.esbuild, hello.rolldown)],
  [`classes with more than ${maxFields} mutable fields`, listed(large)],
  [`classes with more than ${maxBooleans} mutable booleans`, listed(flagged)],
];
for (const [what, figures] of rows) console.log(`${what}: ${figures}`);

/** @param {string} name */
function callsOf(name) {
  return files.flatMap(({ calls }) => calls).filter((one) => one === name).length;
}

/** @param {readonly number[]} counts */
function sum(counts) {
  return counts.reduce((all, count) => all + count, 0);
}

/** @param {readonly number[]} counts */
function numbers(...counts) {
  return counts.map((count) => count.toLocaleString("en-US")).join("; ");
}

/** @param {readonly Class[]} of */
function listed(of) {
  return `${of.length}: ${of.map(({ name }) => name).join(", ")}`;
}

/** The files of the longest chain of imports within these. @param {readonly SourceFile[]} of */
function floorsOf(of) {
  const inside = new Map(of.map((file) => [file.path, file]));
  /** @type {Map<string, number>} */
  const known = new Map();
  /** @param {string} path @param {readonly string[]} above @returns {number} */
  const floors = (path, above) => {
    const found = known.get(path);
    if (found !== undefined) return found;
    const below = (inside.get(path)?.imports ?? []).filter((to) => inside.has(to) && !above.includes(to));
    const count = 1 + Math.max(0, ...below.map((to) => floors(to, [...above, path])));
    known.set(path, count);
    return count;
  };
  return Math.max(...of.map(({ path }) => floors(path, [])));
}

/** @param {string} folder @returns {SourceFile[]} */
function filesIn(folder) {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  // The build makes the script of the reader.
  const written = names.filter((name) => name.endsWith(".ts") && !name.endsWith("reader-script.ts"));
  return written.map((name) => read(join(folder, name)));
}

/** @param {string} path @returns {SourceFile} */
function read(path) {
  const text = readFileSync(join(root, path), "utf8");
  /** @type {Class[]} */
  const found = [];
  /** @type {string[]} */
  const functions = [];
  /** @type {string[]} */
  const calls = [];
  const shown = (/** @type {import("oxc-parser").Span | null | undefined} */ node) =>
    node ? text.slice(node.start, node.end) : "";
  /** @param {import("oxc-parser").Class} node */
  const note = ({ id, body, superClass, implements: ports = [] }) => {
    const fields = body.body.filter((member) => member.type === "PropertyDefinition" && !member.static);
    const mutable = fields.filter((field) => "readonly" in field && field.readonly !== true);
    const isBoolean = (/** @type {any} */ { value, typeAnnotation }) =>
      typeof value?.value === "boolean" || /^: boolean( \| undefined)?$/.test(shown(typeAnnotation));
    found.push({
      name: id?.name ?? "a class",
      mutable: mutable.length,
      booleans: mutable.filter(isBoolean).length,
      from: [shown(superClass), ...ports.map(({ expression }) => shown(expression))],
    });
  };
  new Visitor({
    ClassDeclaration: note,
    ClassExpression: note,
    FunctionDeclaration: ({ id }) => void (id && functions.push(id.name)),
    CallExpression: ({ callee }) => void (callee.type === "Identifier" && calls.push(callee.name)),
  }).visit(parseSync(path, text).program);
  const imports = [...text.matchAll(/^(?:import|export|\}) ?[^;]*?from "(\.[^"]+)";/gm)];
  return {
    path,
    lines: text.split("\n").length - 1,
    imports: imports.map(([, to]) => join(dirname(path), to ?? "")),
    classes: found,
    functions,
    calls,
  };
}

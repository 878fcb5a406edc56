/**
 * Finds the places of a source that a run may enter or not: functions, `catch`, `finally`, both sides of an `if` and of a
 * conditional expression, cases, loops, the right side of `&&`, `||` and `??`, and default values. A constant on such a side is
 * no place, nor is a function that does nothing.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import { wrapped } from "../wrap.mjs";

/** @import { Wrap } from "../wrap.mjs" */
/** @typedef {{ readonly type: string, readonly start: number, readonly end: number, readonly [key: string]: any }} Node */
/** @typedef {{ readonly what: string, readonly line: number, readonly within: number | undefined, readonly wrap: (mark: string) => Wrap }} Found */
/** @typedef {Found & { readonly id: number, readonly file: string, readonly key: string }} Place */

// Those of other runtimes run in processes whose coverage is not collected; those of Redis run only where there is one.
const elsewhere = ["adapters/bun/", "adapters/deno/", "adapters/redis/", "adapters/workers/"];
// Not yet: no list of what their tests leave out has been made.
const later = ["adapters/node/", "adapters/postgres/", "src/database/"];

/** The places of all sources; a place's id is its index. @param {string} root @returns {readonly Place[]} */
export function allPlaces(root) {
  const { stdout } = spawnSync("git", ["ls-files", "-co", "--exclude-standard", "src", "adapters"], {
    cwd: root,
    encoding: "utf8",
  });
  const files = stdout
    .split("\n")
    .filter((file) => file.endsWith(".ts") && ![...elsewhere, ...later].some((at) => file.startsWith(at)));
  /** @type {Place[]} */
  const all = [];
  for (const file of files) {
    const first = all.length;
    /** @type {Map<string, number>} */
    const seen = new Map();
    for (const found of placesOf(file, readFileSync(join(root, file), "utf8"))) {
      const nth = (seen.get(found.what) ?? 0) + 1;
      seen.set(found.what, nth);
      const key = `${file}: ${found.what}${nth === 1 ? "" : ` (${nth})`}`;
      const within = found.within === undefined ? undefined : first + found.within;
      all.push({ ...found, within, id: all.length, file, key });
    }
  }
  return all;
}

/** Whether a place is a `catch` or a `finally`. @param {Pick<Place, "what">} place */
export const isBlock = ({ what }) => /^(?:catch|finally) /.test(what);

/** Whether a run marks only `catch` and `finally`, as that of `.ci/run`. */
export const isOfBlocks = process.env["USHER_COVERAGE_OF"] === "blocks";

/** A source that marks each place that it enters in `$entered`. @param {string} text @param {readonly Place[]} places */
export function withMarks(text, places) {
  return wrapped(
    text,
    places.map(({ id, wrap }) => wrap(`$entered[${id}]=1`)),
  );
}

/** @param {string} file @param {string} text @returns {Found[]} */
function placesOf(file, text) {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const lineAt = linesOf(text);
  /** @type {Found[]} */
  const found = [];
  /** @type {number | undefined} */
  let within;

  /** @param {Node} node */
  const shown = ({ start, end }) => {
    const line = text.slice(start, end).replaceAll(/\s+/g, " ");
    return `\`${line.length > 90 ? `${line.slice(0, 89)}…` : line}\``;
  };
  /** Adds a place, and visits what is inside it. @param {string} what @param {Node} at @param {(mark: string) => Wrap} wrap @param {unknown} inside */
  const add = (what, at, wrap, inside) => {
    const outer = within;
    within = found.push({ what, line: lineAt(at.start), within, wrap }) - 1;
    visit(inside);
    within = outer;
  };
  /** @param {string} what @param {Node} node */
  const value = (what, node) => {
    add(what, node, (mark) => around(node, `(${mark},`, ")"), node);
  };
  /** @param {string} what @param {Node} node */
  const statement = (what, node) => {
    if (node.type === "BlockStatement") add(what, node, (mark) => point(node.start + 1, `${mark};`), node);
    else add(what, node, (mark) => around(node, `{${mark};`, "}"), node);
  };

  /** @param {any} node @param {Node} [named] What a function is the value of. */
  const visit = (node, named = node) => {
    if (node === null || typeof node !== "object") return;
    if (Array.isArray(node)) {
      for (const one of node) visit(one);
      return;
    }
    switch (node.type) {
      case "MethodDefinition":
      case "Property":
      case "PropertyDefinition":
        visit(node.key);
        visit(node.value, node);
        return;
      case "VariableDeclarator":
        visit(node.id);
        visit(node.init, node);
        return;
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        visit(node.params);
        if (node.body === null || isEmpty(node.body)) return;
        if (node.body.type === "BlockStatement") statement(`function ${shown(named)}`, node.body);
        else value(`function ${shown(named)}`, node.body);
        return;
      case "TryStatement":
        visit(node.block);
        if (node.handler !== null) statement(`catch ${shown(node.handler.body)}`, node.handler.body);
        if (node.finalizer !== null) statement(`finally ${shown(node.finalizer)}`, node.finalizer);
        return;
      case "IfStatement":
        visit(node.test);
        statement(`true: if (${shown(node.test)})`, node.consequent);
        if (node.alternate !== null) statement(`false: if (${shown(node.test)})`, node.alternate);
        else add(`false: if (${shown(node.test)})`, node, (mark) => around(node, "", ` else ${mark};`), null);
        return;
      case "ConditionalExpression":
        visit(node.test);
        value(`true: ${shown(node)}`, node.consequent);
        value(`false: ${shown(node)}`, node.alternate);
        return;
      case "LogicalExpression":
        visit(node.left);
        if (!isConstant(node.right)) value(`right of ${shown(node)}`, node.right);
        return;
      case "AssignmentPattern":
        visit(node.left);
        if (!isConstant(node.right)) value(`default ${shown(node)}`, node.right);
        return;
      case "SwitchCase": {
        const [first] = node.consequent;
        visit(node.test);
        const name = node.test === null ? "default" : `case ${shown(node.test)}`;
        if (first === undefined) return;
        add(name, node, (mark) => point(first.start, `${mark};`), node.consequent);
        return;
      }
      case "AssignmentExpression":
        visit(node.left);
        if (["??=", "||=", "&&="].includes(node.operator)) value(`right of ${shown(node)}`, node.right);
        else visit(node.right);
        return;
      case "ForStatement":
      case "ForOfStatement":
      case "ForInStatement":
      case "WhileStatement": {
        const { body, ...head } = node;
        visit(Object.values(head));
        statement(`loop ${shown(node)}`, body);
        return;
      }
      default:
        visit(Object.values(node));
    }
  };

  visit(program.body);
  return found;
}

/** Answers the line of a place, which is behind the place of the call before or near it. @param {string} text */
function linesOf(text) {
  let line = 1;
  let known = 0;
  return (/** @type {number} */ at) => {
    for (; known < at; known++) if (text[known] === "\n") line++;
    for (; known > at; known--) if (text[known - 1] === "\n") line--;
    return line;
  };
}

/** A constant that the compiler asks for, as where an index may be missing: nothing runs there. @param {Node} node */
function isConstant({ type, name }) {
  return type === "Literal" || (type === "Identifier" && name === "undefined");
}

/** A function that does nothing. @param {Node} body */
function isEmpty(body) {
  return body.type === "BlockStatement" ? body["body"].length === 0 : isConstant(body);
}

/** @type {(node: Node, before: string, after: string) => Wrap} */
const around = ({ start, end }, before, after) => ({ start, end, before, after });

/** @type {(at: number, before: string) => Wrap} */
const point = (at, before) => ({ start: at, end: at, before, after: "" });

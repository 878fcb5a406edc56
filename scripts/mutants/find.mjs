/**
 * Finds the places that a mutation run changes: statements that close, cancel, clear, release, subtract or delete, every statement of
 * a `catch` or `finally`, and the conditions that guard such a statement.
 */
import { parseSync } from "oxc-parser";
import { wrapped } from "../wrap.mjs";

/** @import { Wrap } from "../wrap.mjs" */
/**
 * @typedef {{ readonly type: string, readonly start: number, readonly end: number, readonly [key: string]: any }} Node
 * @typedef {{ readonly file: string, readonly line: number, readonly text: string, readonly change: string, readonly wrap: (id: number) => Wrap }} Mutant
 */

// A whole word at the start of a name: `end` and `endAll`, not `ended` or `endsWith`.
const cleans =
  /^(?:close|end|cancel|clear|release|destroy|abort|dispose|stop|delete|remove|unsubscribe|off|free|drop|leave|discard|forget|detach|disconnect|kill|shutdown|reset|give|return|expire|sweep|cut|finish)(?![a-z])/;

/** @type {(text: string, node: Node) => string} One line of the source, short. */
const shown = (text, { start, end }) => {
  const line = text.slice(start, end).replaceAll(/\s+/g, " ");
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
};

/** Every mutant of a file, in the order of its text. @param {string} file @param {string} text @returns {Mutant[]} */
export function mutantsOf(file, text) {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  /** @type {Mutant[]} */
  const found = [];
  const lineOf = (/** @type {number} */ at) => text.slice(0, at).split("\n").length;
  /** @param {Node} node @param {string} change @param {(id: number) => readonly [before: string, after: string]} put @param {Node} [of] */
  const add = (node, change, put, of = node) => {
    const { start, end } = node;
    const wrap = (/** @type {number} */ id) => ({ start, end, before: put(id)[0], after: put(id)[1] });
    found.push({ file, line: lineOf(of.start), text: shown(text, of), change, wrap });
  };
  const dropStatement = (/** @type {Node} */ node) => add(node, "left out", (id) => [`{if(!$mutant(${id})){`, "}}"]);
  const dropValue = (/** @type {Node} */ node, /** @type {Node} */ of) =>
    add(node, "left out", (id) => [`($mutant(${id})?undefined:(`, "))"], of);

  /** @type {Set<number>} */
  const guarded = new Set();
  const condition = (/** @type {Node} */ test) => {
    if (guarded.has(test.start)) return;
    guarded.add(test.start);
    add(test, "negated", (id) => [`($mutant(${id})!==!!(`, "))"]);
    const inner = test.type === "ParenthesizedExpression" ? test["expression"] : test;
    if (inner.type !== "LogicalExpression" || inner.operator === "??") return;
    // An operand is left out by its neutral value: true for `&&`, false for `||`.
    const out =
      inner.operator === "&&"
        ? (/** @type {number} */ id) => `($mutant(${id})||(`
        : (/** @type {number} */ id) => `(!$mutant(${id})&&(`;
    for (const side of ["left", "right"]) {
      add(inner[side], `without ${shown(text, inner[side])}`, (id) => [out(id), "))"], test);
    }
  };

  /** Visits a node. Returns whether one of its statements, in the same function, is changed. @param {any} node @param {boolean} isLast @returns {boolean} */
  const visit = (node, isLast) => {
    if (node === null || typeof node !== "object") return false;
    if (Array.isArray(node)) return block(node, isLast);
    if (typeof node.type !== "string") return false;
    switch (node.type) {
      case "ExpressionStatement": {
        visit(node.expression, false);
        if (node.directive !== undefined && node.directive !== null) return false;
        if (!isLast && !isCleanup(node.expression)) return false;
        dropStatement(node);
        const logical = node.expression.type === "LogicalExpression" ? node.expression : undefined;
        if (logical !== undefined && logical.operator !== "??") condition(logical.left);
        return true;
      }
      case "IfStatement": {
        visit(node.test, false);
        const inside = [node.consequent, node.alternate].map((branch) => visit(branch, isLast)).some(Boolean);
        if (inside) condition(node.test);
        return inside;
      }
      case "TryStatement": {
        const all = [visit(node.block, isLast), visit(node.handler?.body, true), visit(node.finalizer, true)];
        return all.some(Boolean);
      }
      case "ReturnStatement": {
        visit(node.argument, false);
        if (node.argument === null || !isCleanup(node.argument)) return false;
        dropValue(node.argument, node);
        return true;
      }
      case "ArrowFunctionExpression":
        visit(node.params, false);
        visit(node.body, false);
        if (node.body.type !== "BlockStatement" && isCleanup(node.body)) dropValue(node.body, node.body);
        return false;
      case "FunctionExpression":
      case "FunctionDeclaration":
        visit(node.body, false);
        return false;
      default: {
        let inside = false;
        const isBlock =
          /^(?:Block|For|While|DoWhile|Switch|Labeled|ForOf|ForIn)/.test(node.type) || node.type === "SwitchCase";
        for (const [key, child] of Object.entries(node)) {
          if (key !== "type" && visit(child, isLast && isBlock)) inside = true;
        }
        return inside;
      }
    }
  };

  /** A list of statements: a condition that leaves it guards the later ones. @param {any[]} statements @param {boolean} isLast @returns {boolean} */
  const block = (statements, isLast) => {
    const inside = statements.map((statement) => visit(statement, isLast));
    for (const [i, statement] of statements.entries()) {
      if (statement?.type !== "IfStatement" || statement.alternate !== null || !leaves(statement.consequent)) continue;
      if (inside.slice(i + 1).some(Boolean)) condition(statement.test);
    }
    return inside.some(Boolean);
  };

  visit(program.body, false);
  return found.toSorted((a, b) => a.wrap(0).start - b.wrap(0).start || b.wrap(0).end - a.wrap(0).end);
}

/** @type {(node: Node) => boolean} */
function leaves(node) {
  if (node.type === "BlockStatement") return node["body"].length > 0 && leaves(node["body"].at(-1));
  return ["ReturnStatement", "ThrowStatement", "ContinueStatement", "BreakStatement"].includes(node.type);
}

/** @param {Node} node @returns {boolean} */
function isCleanup(node) {
  switch (node.type) {
    case "AwaitExpression":
      return isCleanup(node["argument"]);
    case "ChainExpression":
    case "ParenthesizedExpression":
    case "TSNonNullExpression":
      return isCleanup(node["expression"]);
    case "UnaryExpression":
      return node["operator"] === "delete" || (node["operator"] === "void" && isCleanup(node["argument"]));
    case "UpdateExpression":
      return node["operator"] === "--";
    case "LogicalExpression":
      return isCleanup(node["right"]);
    case "ConditionalExpression":
      return isCleanup(node["consequent"]) || isCleanup(node["alternate"]);
    case "AssignmentExpression":
      return node["operator"] === "-=" || (node["operator"] === "=" && isNothing(node["right"]));
    case "CallExpression": {
      const { callee } = node;
      if (callee.type === "MemberExpression") {
        const name = callee.property.name ?? "";
        return ["then", "catch", "finally"].includes(name) ? isCleanup(callee.object) : cleans.test(name);
      }
      return callee.type === "Identifier" && cleans.test(callee.name);
    }
    default:
      return false;
  }
}

/** Whether a value clears a place, as `undefined`. @param {Node} node */
function isNothing(node) {
  if (node.type === "Identifier") return node["name"] === "undefined";
  if (node.type === "Literal")
    return [null, false, 0].includes(node["value"]) && node["raw"] !== undefined && node["regex"] === undefined;
  return node.type === "ArrayExpression" && node["elements"].length === 0;
}

/** A source with all of its mutants, each of which `$mutant(id)` activates. @param {string} text @param {readonly Wrap[]} wraps @param {string} from */
export function withMutants(text, wraps, from) {
  return `import { $mutant } from ${JSON.stringify(from)}; ${wrapped(text, wraps)}`;
}

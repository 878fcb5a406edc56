/** Finds an example of each public function and value in the pages, whose snippets compile, and in the programs of `examples`. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path/posix";
import { parseSync, Visitor } from "oxc-parser";

/** @typedef {{ readonly source: string, readonly title: string, readonly text: string, readonly isCalled: boolean }} Example */
/** @typedef {{ readonly start: number, readonly end: number }} Span */

/** Of a longer statement only the call is shown. */
const maxLines = 12;
/** A shorter text shows too little, if there is another. */
const fewCharacters = 30;

/**
 * @param {string} root @returns {(entry: string, name: string) => Example | undefined} The best example of a name, such as
 *   `Query.list`, of an entry, such as `usher-http/node`.
 */
export function examplesIn(root) {
  /** @type {Map<string, Example[]>} */
  const found = new Map();
  for (const { source, title, text } of snippetsIn(root)) {
    for (const { key, shown, isCalled } of usesIn(text)) {
      found.set(key, [...(found.get(key) ?? []), { source, title, text: shown, isCalled }]);
    }
  }
  // A snippet of a page may leave out the imports.
  return (entry, name) => {
    const all = [...(found.get(`${entry} ${name}`) ?? []), ...(found.get(` ${name}`) ?? [])];
    return all.toSorted((one, other) => rank(one) - rank(other))[0];
  };
}

/** @param {Example} example */
function rank({ text, isCalled }) {
  return (isCalled ? 0 : 1e6) + (text.length < fewCharacters ? 1e5 : 0) + text.length;
}

/** @param {string} root */
function* snippetsIn(root) {
  for (const folder of ["guides", "tutorial"]) {
    for (const file of readdirSync(join(root, "docs", folder)).toSorted()) {
      const page = readFileSync(join(root, "docs", folder, file), "utf8");
      const title = /^# (.*)$/m.exec(page)?.[1] ?? file;
      for (const [, text = ""] of page.matchAll(/^```ts\n([^]*?)^```$/gm))
        yield { source: `${folder}/${file}`, title, text };
    }
  }
}

/** What a snippet uses of the package, with the entry if the snippet imports it. @param {string} text */
function usesIn(text) {
  const { program } = parseSync("snippet.ts", text);
  /** @type {Map<string, string>} */
  const entries = new Map();
  /** @type {Set<string>} */
  const ofOthers = new Set();
  for (const statement of program.body) {
    if (statement.type !== "ImportDeclaration") continue;
    const from = statement.source.value;
    for (const { local } of statement.specifiers) {
      if (/^usher-http(?:\/|$)/.test(from)) entries.set(local.name, from);
      else ofOthers.add(local.name);
    }
  }
  // A variable of the snippet is no import that it leaves out.
  new Visitor({
    VariableDeclarator: ({ id }) => {
      if (id.type === "Identifier" && !entries.has(id.name)) ofOthers.add(id.name);
    },
  }).visit(program);
  /** @type {{ readonly key: string, readonly shown: string, readonly isCalled: boolean }[]} */
  const uses = [];
  for (const statement of program.body) {
    if (statement.type === "ImportDeclaration") continue;
    /** @type {Span[]} */
    const calls = [];
    /** @param {string | undefined} name @param {Span} node */
    const note = (name, node) => {
      const [first = ""] = name?.split(".") ?? [];
      if (name === undefined || ofOthers.has(first)) return;
      const call = calls.findLast(({ start }) => start === node.start);
      // A value is shown as the argument that it is.
      const shown = shownOf(text, statement, call ?? calls.at(-1) ?? node);
      uses.push({ key: `${entries.get(first) ?? ""} ${name}`, shown, isCalled: call !== undefined });
    };
    new Visitor({
      CallExpression: (node) => void calls.push(node),
      "CallExpression:exit": () => void calls.pop(),
      TaggedTemplateExpression: (node) => void calls.push(node),
      "TaggedTemplateExpression:exit": () => void calls.pop(),
      MemberExpression: (node) => note(nameOf(node), node),
      Identifier: (node) => note(node.name, node),
    }).visit({ ...program, body: [statement] });
  }
  return uses;
}

/** `Form.File.optional`, of an expression that is such a name. @param {import("oxc-parser").Expression} node @returns {string | undefined} */
function nameOf(node) {
  if (node.type === "Identifier") return node.name;
  if (node.type !== "MemberExpression" || node.computed || node.property.type !== "Identifier") return undefined;
  const object = nameOf(node.object);
  return object === undefined ? undefined : `${object}.${node.property.name}`;
}

/** The statement, or if that is long the part of it. @param {string} text @param {Span} statement @param {Span} part */
function shownOf(text, statement, part) {
  const whole = text.slice(statement.start, statement.end);
  if (whole.split("\n").length <= maxLines) return whole;
  const indent = /^ */.exec(text.slice(text.lastIndexOf("\n", part.start) + 1))?.[0] ?? "";
  return text.slice(part.start, part.end).replaceAll(`\n${indent}`, "\n");
}

/**
 * Holds plain English (CONTRIBUTING.md): in the comments, errors and names of the source, in the titles and comments of tests, and in
 * Markdown that a person wrote. Each word below has a plain one next to it, and no sentence is too long to read once.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "oxc-parser";

/** Words of a sentence, code in backquotes counted as one: write at most 25. */
const maxWords = 30;
// Until its end, the end of its paragraph or of a cell, a tag of TSDoc, or code.
const sentence = /(?:(?![.:;?!][)"]?\s|\n\s*\n|(?<=\S) {2}|@\w)[^\0])+/g;

/** In comments, messages and pages. @type {readonly (readonly [words: RegExp, instead: string])[]} */
const turns = [
  [/\bwho(?:ever|mever)\b/gi, "the noun: the client, the caller, the handler"],
  [/\b(?:nobody|somebody|everybody|no one else)\b/gi, "the noun, or the passive: is not read, no listener"],
  [/(?<!\bthere )\b(?:is|are|be) none\b(?! of\b)/gi, '"is not a …", "does not exist"'],
  [/\b(?:told|untold|tells? of)\b/gi, '"is reported", "is given", "is written", "gets"'],
  [/\b(?:said|unsaid|says nothing)\b/gi, '"is given", "is declared", "is set"'],
  [/\b(?:hears?|heard)\b/gi, '"is notified", "receives", "is called"'],
  [/\b(?:came|has come|have come|had come)\b/gi, '"arrived", "was received", "resolved"'],
  [/\bcomes? to (?:nothing|an end)\b/gi, '"fails", "ends"'],
  [/\b(?:is|are) to come\b/gi, '"is pending"'],
  [/\b(?:go|goes|went|going) on\b/gi, '"continues"'],
  [/\bon and on\b/gi, '"repeatedly", "without a pause"'],
  [/\bat hand\b/gi, '"already available", "in memory"'],
  [/\bin (?:its|the|their|our) hands?\b/gi, 'the verb: "an application cannot set"'],
  [/\bfor want of\b/gi, '"without", "because there is no"'],
  [/\b(?:by|on|at) (?:its|their) word\b/gi, '"as it reports"'],
  [/\bto be had\b/gi, '"available"'],
  [/\bof (?:ours|theirs)\b/gi, '"the framework\'s", "its"'],
  [/\bso (?:many|long)\b(?! as\b)/gi, 'the name of the figure: "at most `maxBytes`"'],
  [/\bwho asks\b/gi, '"the caller", "the user"'],
  [/\bat the (?:most|least)\b/gi, '"at most", "at least"'],
  [/\bbeside\b/gi, '"next to", "in addition to", "besides"'],
  [/\banew\b/gi, '"again"'],
  [/\bbut for\b/gi, '"except"'],
  [/\bfor who\b/gi, "the noun: for callers that"],
  [/\b(?:knows?|knew) of\b/gi, '"knows"'],
  [/\bowed\b/gi, '"pending", "still to be sent"'],
  [/\bwhat (?:is|was|were) asked\b/gi, '"the request"'],
  [/\bof which (?:one|nothing|none|no|nobody|each|some|most|any|all)\b/gi, "a second sentence with the noun"],
  [/\b(?:that|those) ones?[.,;:)]/gi, "the noun"],
  [/\b(?:is|are|was|were) such\b/gi, "the noun or the verb"],
  [/\bwhich (?:is|are) what\b/gi, "the noun"],
  [/\bmay stand\b|\bstands? (?:in|at|on|between|there|before|behind|after)\b/gi, '"is in", "is allowed"'],
];

/** Of variables, functions and members. @type {readonly (readonly [name: RegExp, instead: string])[]} */
const names = [
  [/^its$/, "the noun"],
  [/^asked$/, "`request`, or what it asks for"],
  [/^(?:said|told|heard|came)$/, "the noun: text, listed, received"],
  [/^whyOf$/, "`reasonOf`"],
  [/^isSo$/, "what is asked: `isEmpty`"],
  [/^most[A-Z]/, "`max…`"],
];

const root = fileURLToPath(new URL("..", import.meta.url));
const files = ["src", "adapters", "cli", "reader", "scripts", "create-usher/src", "create-usher/templates"].flatMap(
  filesIn,
);
const tests = filesIn("test").filter((name) => name.endsWith(".ts"));
const pages = [
  ...pagesIn("."),
  ...["docs", "bench", "examples", "create-usher"].flatMap((folder) => pagesIn(folder, true)),
];
const wrong = [...files.flatMap(checkSource), ...tests.flatMap(checkTest), ...pages.flatMap(checkPage)];
if (wrong.length > 0) {
  console.error(wrong.join("\n"));
  process.exit(1);
}

/** Sources without what is installed. @param {string} folder */
function filesIn(folder) {
  const all = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return all.filter((name) => /^(?!.*\bnode_modules\/).*\.(?:ts|mjs)$/.test(name)).map((name) => join(folder, name));
}

/** Markdown without what is installed or made. @param {string} folder @param {boolean} [recursive] */
function pagesIn(folder, recursive = false) {
  const all = readdirSync(join(root, folder), { recursive, encoding: "utf8" });
  return all
    .filter((name) => /^(?!.*\b(?:node_modules|reference|dist)\/).*\.md$/.test(name))
    .map((name) => join(folder, name));
}

/** @param {string} path @returns {string[]} */
function checkSource(path) {
  const text = readFileSync(join(root, path), "utf8");
  const { program, comments } = parseSync(path, text);
  const { messages, identifiers } = read(program);
  const wrongNames = names.flatMap(([found, instead]) => {
    return [...identifiers].flatMap(([name, at]) => (found.test(name) ? [wrongAt(path, text, at, name, instead)] : []));
  });
  return [...wrongIn(path, text, onlyProse(text, [...comments, ...messages])), ...wrongNames];
}

/** @param {string} path @returns {string[]} */
function checkTest(path) {
  const text = readFileSync(join(root, path), "utf8");
  const { program, comments } = parseSync(path, text);
  return wrongIn(path, text, onlyProse(text, [...comments, ...titlesOf(program)]));
}

/** @param {string} path @returns {string[]} */
function checkPage(path) {
  const prose = onlyPageProse(readFileSync(join(root, path), "utf8"));
  return wrongIn(path, prose, prose);
}

/** @param {string} path @param {string} text Has the line breaks of the file. @param {string} prose @returns {string[]} */
function wrongIn(path, text, prose) {
  /** @param {number} at @param {string} word @param {string} instead */
  const wrong = (at, word, instead) => wrongAt(path, text, at, word, instead);
  return [
    ...turns.flatMap(([found, instead]) => {
      return [...prose.matchAll(acrossLines(found))].map((match) => wrong(match.index, match[0], instead));
    }),
    ...[...prose.matchAll(sentence)].flatMap((match) => {
      const { length } = match[0].match(/\S*[\w\x01]\S*/g) ?? [];
      const start = match.index + match[0].search(/\S/);
      return length > maxWords ? [wrong(start, `${length} words in a sentence`, "two sentences")] : [];
    }),
  ];
}

/** @param {string} path @param {string} text @param {number} at @param {string} word @param {string} instead */
function wrongAt(path, text, at, word, instead) {
  return `${path}:${lineOf(text, at)}: "${word.replace(/\s+/g, " ")}": write ${instead}`;
}

/** @param {RegExp} found */
function acrossLines(found) {
  return new RegExp(found.source.replaceAll(" ", String.raw`\s+`), found.flags);
}

/** @param {string} text @param {number} at */
function lineOf(text, at) {
  return text.slice(0, at).split("\n").length;
}

/** @typedef {{ readonly start: number, readonly end: number }} Span */

/**
 * The file with a NUL for each character of code, and U+0001 for each of code in a comment, so that each word keeps its place.
 *
 * @param {string} text @param {readonly Span[]} spans
 */
function onlyProse(text, spans) {
  const code = text.replace(/\S/g, "\0");
  /** @type {string[]} */
  const parts = [];
  let end = 0;
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const inside = text.slice(span.start, span.end).replace(/`[^`]*`/g, (quoted) => "\x01".repeat(quoted.length));
    parts.push(
      code.slice(end, span.start),
      inside.replace(/^\s*\*|\/\//gm, (mark) => " ".repeat(mark.length)),
    );
    end = span.end;
  }
  return [...parts, code.slice(end)].join("");
}

/**
 * A page with a NUL for code, for what ends a cell or begins an item, and for each line that is for machines. U+0001 is code in a
 * sentence, one word.
 *
 * @param {string} text
 */
function onlyPageProse(text) {
  /** @param {string} part */
  const lines = (part) => part.replace(/.+/g, "\0");
  return text
    .replace(/^---\n[^]*?^---$/m, (part, at) => (at === 0 ? lines(part) : part))
    .replace(/^( *)```[^]*?^\1```$/gm, lines)
    .replace(/<!--[^]*?-->/g, lines)
    .replace(/(`+)(?:[^`]|(?!\1)`)+\1/g, (code) => code.replace(/[^\n]+/g, "\x01"))
    .replace(/\]\([^)]*\)|\*\*|<[^<>]*>/g, "")
    .replace(/^\s*(?:[-*>#]+|\d+\.)\s|\|/gm, (mark) => mark.replace(/[^\n]+/g, "\0"));
}

/**
 * The texts of errors, and where each name that the file gives is first: a member's name is what its declaration says.
 *
 * @param {import("oxc-parser").Program} program
 */
function read(program) {
  /** @type {Span[]} */
  const messages = [];
  /** @type {Map<string, number>} */
  const identifiers = new Map();
  /** @type {Set<number>} */
  const ofOthers = new Set();
  let errors = 0;
  /** @param {{ readonly name: string, readonly start: number }} node */
  const note = ({ name, start }) => {
    if (!ofOthers.has(start) && !identifiers.has(name)) identifiers.set(name, start);
  };
  new Visitor({
    MemberExpression: ({ computed, property }) => void (computed || ofOthers.add(property.start)),
    Property: ({ shorthand, key }) => void (shorthand || ofOthers.add(key.start)),
    Identifier: note,
    PrivateIdentifier: note,
    NewExpression: (node) => void (errors += isError(node) ? 1 : 0),
    "NewExpression:exit": (node) => void (errors -= isError(node) ? 1 : 0),
    Literal: (node) => void (errors > 0 && typeof node.value === "string" && messages.push(node)),
    TemplateElement: (node) => void (errors > 0 && messages.push(node)),
  }).visit(program);
  return { messages, identifiers };
}

/** @param {import("oxc-parser").NewExpression} node */
function isError({ callee }) {
  return callee.type === "Identifier" && /Error$|^InvalidAnswerError$/.test(callee.name);
}

/** The titles of tests, as in `it("…")` and `describe.each(rows)("…")`. @param {import("oxc-parser").Program} program */
function titlesOf(program) {
  /** @type {Span[]} */
  const titles = [];
  new Visitor({
    CallExpression: ({ callee, arguments: [title] }) => {
      if (title?.type === "Literal" && /^(?:describe|it|test)$/.test(rootOf(callee))) titles.push(title);
    },
  }).visit(program);
  return titles;
}

/** The name that a call begins with: `it` of `it.skipIf(x).each(rows)`. @param {import("oxc-parser").Expression} callee @returns {string} */
function rootOf(callee) {
  if (callee.type === "Identifier") return callee.name;
  if (callee.type === "CallExpression") return rootOf(callee.callee);
  return callee.type === "MemberExpression" ? rootOf(callee.object) : "";
}

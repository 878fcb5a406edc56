/**
 * Formats the code of the pages to the width of the site's column at 1280 px, which is 72 characters. TypeScript is formatted by oxfmt.
 * Imports of many names are filled, so that a program starts on the first screen. A comment that is too long is put above its line.
 * Commands and settings are not changed: `wideLines` names the ones that are too long.
 */
import { parseSync } from "oxc-parser";
import { format } from "oxfmt";

const width = 72;

/** What oxfmt formats. */
const formattable = new Set(["ts", "typescript", "js"]);

/** Languages whose lines a person breaks. What a program prints, a difference and a Dockerfile stay as they are. */
const broken = new Set(["sh", "yaml", "sql", "toml", "ini", "nginx", "python", "html"]);

/** @typedef {{ readonly indent: string, readonly language: string, readonly code: string, readonly start: number, readonly end: number, readonly line: number }} Block */

/** The code of a page. @param {string} text @returns {Block[]} */
function blocksOf(text) {
  return [...text.matchAll(/^( *)```(\w*)[^\n]*\n([^]*?)^ *```$/gm)].map((found) => {
    const [whole, indent = "", language = "", code = ""] = found;
    const end = found.index + whole.lastIndexOf("```") - indent.length;
    return {
      indent,
      language,
      code,
      start: end - code.length,
      end,
      line: text.slice(0, end - code.length).split("\n").length,
    };
  });
}

/** A page with its TypeScript formatted. @param {string} text */
export async function formatPage(text) {
  let made = "";
  let from = 0;
  for (const { indent, language, code, start, end } of blocksOf(text)) {
    if (!formattable.has(language)) continue;
    const bare = code.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    made += text.slice(from, start) + (await formatSnippet(bare)).replaceAll(/^(?=.)/gm, indent);
    from = end;
  }
  return made + text.slice(from);
}

/** Lines that are too long: a comment in TypeScript, and any line of what a person breaks. @param {string} page @param {string} text @returns {string[]} */
export function wideLines(page, text) {
  return blocksOf(text).flatMap(({ indent, language, code, line }) => {
    const isFormatted = formattable.has(language);
    if (!isFormatted && !broken.has(language)) return [];
    return code.split("\n").flatMap((one, i) => {
      if (one.length - indent.length <= width || (isFormatted && !isWideComment(one))) return [];
      return [`${page}:${line + i}: the line has ${one.length - indent.length} characters: break it at ${width}`];
    });
  });
}

/** Whether words of a comment, and not one long word, make a line too long. @param {string} line */
function isWideComment(line) {
  return (
    /^\s*(?:\/\/|\/?\*{1,2}) \S+ \S/.test(line) ||
    (/ \/\/ /.test(line) && line.search(/ \/\/ /) < width && !/["`].* \/\/ .*["`]/.test(line))
  );
}

/** @param {string} code */
async function formatSnippet(code) {
  let text = code;
  for (let round = 0; round < 4; round += 1) {
    const next = await formatted(breakComments(text));
    if (next === text) break;
    text = next;
  }
  return fillImports(text);
}

/** @param {string} code */
async function formatted(code) {
  const { code: made, errors } = await format("snippet.mts", code, {
    embeddedLanguageFormatting: "off",
    printWidth: width,
  });
  const [first] = errors;
  if (first !== undefined) throw new Error(`${first.message}\n${code}`);
  return made;
}

/** Moves a comment that ends past the width in front of its line, and wraps it. @param {string} text */
function breakComments(text) {
  const lines = text.split("\n");
  const starts = lines.map((_, i) => lines.slice(0, i).join("\n").length + (i === 0 ? 0 : 1));
  const wide = parseSync("snippet.mts", text).comments.flatMap(({ type, start, end }) => {
    const line = starts.findLastIndex((at) => at <= start);
    const isWrapped = type === "Line" || /^ *\/\*\* .* \*\/$/.test(lines[line] ?? "");
    return isWrapped && end - (starts[line] ?? 0) > width ? [{ line, column: start - (starts[line] ?? 0) }] : [];
  });
  for (const { line, column } of wide.toReversed()) {
    const whole = lines[line] ?? "";
    const indent = /^ */.exec(whole)?.[0] ?? "";
    const before = whole.slice(0, column).trimEnd();
    const comment = whole.startsWith("/**", column)
      ? [`${indent}/**`, ...wrapped(whole.slice(column + 3, -2).trim(), `${indent} *`), `${indent} */`]
      : wrapped(whole.slice(column + 2).trim(), `${indent}//`);
    lines.splice(line, 1, ...comment, ...(before === "" ? [] : [before]));
  }
  return lines.join("\n");
}

/** @param {string} comment @param {string} mark What each line begins with. @returns {string[]} */
function wrapped(comment, mark) {
  /** @type {string[]} */
  const made = [];
  for (const word of comment.split(" ")) {
    const last = made.at(-1);
    if (last !== undefined && `${last} ${word}`.length <= width) made[made.length - 1] = `${last} ${word}`;
    else made.push(`${mark} ${word}`);
  }
  return made;
}

/** Puts as many names on a line of an import as fit. @param {string} text */
function fillImports(text) {
  return text.replaceAll(/^import (type )?\{\n([^}]*)\} from/gm, (_, type = "", names = "") => {
    /** @type {string[]} */
    const lines = [];
    for (const name of names.trim().split(/\s*\n\s*/)) {
      const last = lines.at(-1);
      if (last !== undefined && `${last} ${name}`.length <= width) lines[lines.length - 1] = `${last} ${name}`;
      else lines.push(`  ${name}`);
    }
    return `import ${type}{\n${lines.join("\n")}\n} from`;
  });
}

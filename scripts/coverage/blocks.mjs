/**
 * Finds each `catch` and `finally` of a source: what runs only when something goes wrong. Its key is the name of its file and of its
 * function, so that neither a file that moves nor code that changes around it makes it another one.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseSync } from "oxc-parser";
import { wrapped } from "../wrap.mjs";

/** @typedef {{ readonly type: string, readonly start: number, readonly end: number, readonly [key: string]: any }} Node */
/** @typedef {{ readonly id: number, readonly file: string, readonly line: number, readonly key: string, readonly at: number }} Block */

// These run in processes whose coverage is not collected, and those of Redis only where there is one.
const elsewhere = ["adapters/bun/", "adapters/deno/", "adapters/redis/", "adapters/workers/"];

/** The blocks of all sources; a block's id is its index. @param {string} root @returns {readonly Block[]} */
export function allBlocks(root) {
  const { stdout } = spawnSync("git", ["ls-files", "-co", "--exclude-standard", "src", "adapters"], {
    cwd: root,
    encoding: "utf8",
  });
  const files = stdout
    .split("\n")
    .filter((file) => file.endsWith(".ts") && !elsewhere.some((at) => file.startsWith(at)));
  /** @type {Block[]} */
  const all = [];
  /** @type {Map<string, number>} */
  const seen = new Map();
  for (const file of files) {
    for (const { name, ...found } of blocksOf(file, readFileSync(join(root, file), "utf8"))) {
      const nth = (seen.get(`${basename(file)}: ${name}`) ?? 0) + 1;
      seen.set(`${basename(file)}: ${name}`, nth);
      all.push({ ...found, id: all.length, file, key: `${basename(file)}: ${name}${nth === 1 ? "" : ` (${nth})`}` });
    }
  }
  return all;
}

/** A source that marks each block that it enters in `$entered`. @param {string} text @param {readonly Block[]} blocks */
export function withMarks(text, blocks) {
  return wrapped(
    text,
    blocks.map(({ id, at }) => ({ start: at, end: at, before: `$entered[${id}]=1;`, after: "" })),
  );
}

/** @param {string} file @param {string} text */
function blocksOf(file, text) {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  /** @type {{ readonly name: string, readonly line: number, readonly at: number }[]} */
  const found = [];
  /** @param {string} what @param {Node} block @param {string} name */
  const add = (what, { start }, name) =>
    found.push({ name: `${what} in ${name}`, line: text.slice(0, start).split("\n").length, at: start + 1 });

  /** @param {any} node @param {string} name Of the function that it is in. */
  const visit = (node, name) => {
    if (node === null || typeof node !== "object") return;
    if (Array.isArray(node)) {
      for (const one of node) visit(one, name);
      return;
    }
    if (node.type === "TryStatement") {
      visit(node.block, name);
      if (node.handler !== null) add("catch", node.handler.body, name);
      visit(node.handler, name);
      if (node.finalizer !== null) add("finally", node.finalizer, name);
      visit(node.finalizer, name);
      return;
    }
    const inner = nameOf(node, name);
    for (const child of Object.values(node)) visit(child, inner);
  };
  /** The name of what is inside of a node. @param {Node} node @param {string} outer */
  const nameOf = ({ type, id, key, value, init }, outer) => {
    const own = id ?? key;
    const declares = /^(?:Class|Function)/.test(type) || /^(?:Arrow)?Function/.test((value ?? init)?.type ?? "");
    if (!declares || !own) return outer;
    const name = text.slice(own.start, own.end);
    return type === "MethodDefinition" || type === "PropertyDefinition" ? `${outer}.${name}` : name;
  };

  visit(program.body, "the module");
  return found;
}

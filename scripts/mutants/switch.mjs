/**
 * Puts on one mutant in whatever process it is imported, and tells which were reached: each source of the copy asks it.
 * A process knows the mutant by its environment; workerd, which has none, by this file's text.
 */
const inText = 0;

/** @type {{ readonly [name: string]: string | undefined }} */
const env = (() => {
  try {
    const { USHER_MUTANT, USHER_MUTANT_REACHED } = globalThis.process.env;
    return { USHER_MUTANT, USHER_MUTANT_REACHED };
  } catch {
    return {};
  }
})();
const on = Number(env["USHER_MUTANT"] ?? inText);
const reachedFile = env["USHER_MUTANT_REACHED"];
// Deno reads no file that it may not, and the oldest Node has no such function: they reach nothing that is told.
const fs = reachedFile === undefined ? undefined : globalThis.process.getBuiltinModule?.("node:fs");
/** @type {Set<number>} */
const reached = new Set();

/** Whether a mutant is on. @param {number} id */
export function $mutant(id) {
  if (fs !== undefined && reachedFile !== undefined && !reached.has(id)) {
    reached.add(id);
    try {
      fs.appendFileSync(reachedFile, `${id}\n`);
    } catch {
      // Of a process without the right to write.
    }
  }
  return id === on;
}

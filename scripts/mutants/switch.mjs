/**
 * Activates one mutant in every process that imports it, and records which ones were reached: each source of the copy calls
 * it. The environment names the mutant; for workerd, which has none, the text of this file does.
 */
const inText = -1;

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
// Deno may lack the permission and the oldest Node the function: these record nothing.
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
      // The process may not write.
    }
  }
  return id === on;
}

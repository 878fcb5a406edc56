/** The parts, in the order of a report. */
export const parts = [
  "server",
  "runtimes",
  "http2",
  "logging",
  "observed",
  "dispatch",
  "around",
  "start",
  "orders",
  "database",
  "fanout",
  "sockets",
  "uploads",
  "files",
  "compress",
  "overload",
  "tokens",
  "mcp",
  "mounts",
  "shapes",
  "forms",
  "html",
  "growth/routes",
  "growth/bodies",
  "growth/connections",
  "growth/problems",
  "growth/pool",
  "growth/types",
];

/** They run only if they are named. */
export const named = ["soak"];

/** Several parts under one name. @type {Readonly<Record<string, readonly string[]>>} */
export const groups = { growth: parts.filter((part) => part.startsWith("growth/")) };

/** The parts that some names are of: all without one. @param {readonly string[]} names @returns {readonly string[]} */
export function partsOf(names) {
  const unknown = names.filter((name) => ![...parts, ...named, ...Object.keys(groups)].includes(name));
  if (unknown.length > 0) {
    const known = [...parts, ...Object.keys(groups), ...named];
    throw new Error(`no such part: ${unknown.join(", ")}; there are ${known.join(", ")}`);
  }
  return names.length === 0 ? parts : [...new Set(names.flatMap((name) => groups[name] ?? [name]))];
}

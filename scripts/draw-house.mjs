/**
 * Draws `docs/house.svg`: the folders of the source, each above the folders that it imports from. An arrow that follows from two
 * others is left out. `--check` fails where the picture is not what the imports say.
 */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";

const root = fileURLToPath(new URL("..", import.meta.url));
const picture = join(root, "docs/house.svg");
const imports = importsOfRooms();
const drawn = svg(levelsOf(imports), reduced(imports));

if (!process.argv.includes("--check")) writeFileSync(picture, drawn);
else if (readFileSync(picture, "utf8") !== drawn) {
  console.error("docs/house.svg is not what the imports say: run node scripts/draw-house.mjs");
  process.exit(1);
}

/** The room of a file: its folder in `src`, `adapters` or `cli`, or the file itself where it is directly in `src`. */
/** @param {string} path */
function roomOf(path) {
  const [top = "", folder = ""] = path.split("/");
  return top === "src" ? basename(folder, ".ts") : top;
}

/** The rooms that each room imports from. `index.ts` only exports what the others have. */
function importsOfRooms() {
  /** @type {Map<string, Set<string>>} */
  const imports = new Map();
  for (const top of ["src", "adapters", "cli"]) {
    for (const name of readdirSync(join(root, top), { recursive: true, encoding: "utf8" })) {
      const path = join(top, name);
      if (!path.endsWith(".ts") || path === "src/index.ts") continue;
      const room = roomOf(path);
      const others = imports.get(room) ?? new Set();
      imports.set(room, others);
      const { module } = parseSync(path, readFileSync(join(root, path), "utf8"));
      const reexported = module.staticExports.flatMap(({ entries }) =>
        entries.map(({ moduleRequest }) => moduleRequest),
      );
      for (const request of [...module.staticImports.map(({ moduleRequest }) => moduleRequest), ...reexported]) {
        if (request?.value.startsWith(".") !== true) continue;
        const other = roomOf(join(dirname(path), request.value));
        if (other !== room && other !== "index") others.add(other);
      }
    }
  }
  return imports;
}

/**
 * The rooms by level: 0 imports from no other, and each of the rest is one above the highest that it imports from.
 *
 * @param {ReadonlyMap<string, ReadonlySet<string>>} imports
 */
function levelsOf(imports) {
  /** @type {Map<string, number>} */
  const known = new Map();
  /** @param {string} room @returns {number} */
  const levelOf = (room) => {
    const level = known.get(room) ?? Math.max(-1, ...[...(imports.get(room) ?? [])].map(levelOf)) + 1;
    known.set(room, level);
    return level;
  };
  /** @type {string[][]} */
  const levels = [];
  for (const room of [...imports.keys()].toSorted()) (levels[levelOf(room)] ??= []).push(room);
  return levels;
}

/**
 * The imports without those that follow from others.
 *
 * @param {ReadonlyMap<string, ReadonlySet<string>>} imports
 */
function reduced(imports) {
  /** @param {string} from @returns {Set<string>} */
  const reachable = (from) => {
    const found = new Set();
    for (const room of imports.get(from) ?? []) for (const other of [room, ...reachable(room)]) found.add(other);
    return found;
  };
  return [...imports].flatMap(([from, all]) => {
    const indirect = new Set([...all].flatMap((room) => [...reachable(room)]));
    return [...all].filter((room) => !indirect.has(room)).map((to) => /** @type {const} */ ([from, to]));
  });
}

/** @param {readonly (readonly string[])[]} levels @param {readonly (readonly [from: string, to: string])[]} arrows */
function svg(levels, arrows) {
  const [width, rowHeight, boxWidth, boxHeight] = [860, 64, 104, 28];
  const height = levels.length * rowHeight + 16;
  /** @type {Map<string, { readonly x: number, readonly y: number }>} */
  const places = new Map();
  for (const [level, rooms] of levels.entries()) {
    for (const [i, room] of rooms.entries()) {
      const x = Math.round((width * (i + 1)) / (rooms.length + 1));
      places.set(room, { x, y: height - (level + 1) * rowHeight + 16 });
    }
  }
  const lines = arrows.flatMap(([from, to]) => {
    const [start, end] = [places.get(from), places.get(to)];
    if (start === undefined || end === undefined) return [];
    const [y1, y2] = [start.y + boxHeight, end.y - 2];
    const middle = Math.round((y1 + y2) / 2);
    return `<path d="M${start.x} ${y1} C${start.x} ${middle} ${end.x} ${middle} ${end.x} ${y2}" marker-end="url(#tip)"/>`;
  });
  const boxes = [...places].map(([room, { x, y }]) => {
    const box = `<rect x="${x - boxWidth / 2}" y="${y}" width="${boxWidth}" height="${boxHeight}" rx="4"/>`;
    return `${box}<text x="${x}" y="${y + 19}">${room}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The folders of the source, each above those it imports from">
<style>path{fill:none;stroke:#8a94a6}rect{fill:#f4f6fa;stroke:#51607a}text{font:14px system-ui,sans-serif;text-anchor:middle;fill:#1c2330}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" style="fill:#8a94a6;stroke:none"/></marker></defs>
<rect width="${width}" height="${height}" style="fill:#fff;stroke:none"/>
${lines.join("\n")}
${boxes.join("\n")}
</svg>
`;
}

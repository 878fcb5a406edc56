/**
 * Asks frameworks the same requests, and writes what they answer: `node bench/peers/index.mjs`. It writes
 * `README.md` here, and the table of `docs/why/compared.md` between its marks. It needs `dist`, and the packages of `bench/package.json`.
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { notInstalled } from "../harness/packages.mjs";
import { ownVersion, versionOf } from "../harness/versions.mjs";
import { ask } from "./ask.mjs";
import { good, requests } from "./requests.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const compared = fileURLToPath(new URL("../../docs/why/compared.md", import.meta.url));
const bun = fileURLToPath(new URL("../../node_modules/bun/bin/bun.exe", import.meta.url));

const frameworks = [
  { name: "Usher", app: "usher", package: undefined },
  { name: "Hono", app: "hono", package: "hono" },
  { name: "Elysia", app: "elysia", package: "elysia", on: bun },
  { name: "Fastify", app: "fastify", package: "fastify" },
  { name: "h3", app: "h3", package: "h3" },
  { name: "Effect", app: "effect", package: "effect" },
  { name: "oRPC", app: "orpc", package: "@orpc/server" },
];

const toDo = notInstalled();
if (toDo !== undefined) throw new Error(toDo);
const columns = [];
for (const framework of frameworks) columns.push(await askAll(framework));

const heads = frameworks.map(({ name }) => name);
writeFileSync(`${here}README.md`, page());
const marks = /(<!-- bench\/peers -->\n)[^]*?(<!-- \/bench\/peers -->)/;
writeFileSync(
  compared,
  readFileSync(compared, "utf8").replace(marks, (_, start, end) => `${start}\n${brief()}\n\n${end}`),
);

/** @returns {Promise<readonly string[]>} A cell for each request. */
async function askAll({ name, app, on = process.execPath }) {
  const child = spawn(on, [`${here}serve.mjs`, app], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  try {
    const port = await portOf(child);
    const { status, body } = await ask(port, good);
    if (status !== 200) throw new Error(`${name} answers a good request with ${status} ${body}`);
    const cells = [];
    for (const { asked, cell, isMet } of requests) {
      const answer = await ask(port, asked);
      cells.push(inCell(cell(answer), isMet(answer)));
    }
    return cells;
  } finally {
    child.kill();
  }
}

/** Some libraries print lines before it. @param {import("node:child_process").ChildProcess} child */
async function portOf(child) {
  for await (const line of createInterface(child.stdout)) if (/^\d+$/.test(line)) return Number(line);
  throw new Error("the server ended before it listened");
}

/** @param {string} text @param {boolean} isMet */
function inCell(text, isMet) {
  return isMet ? `**${text}**` : text;
}

function page() {
  const rows = requests.map(({ name, needed, fastapi }, i) => {
    return row([name, needed, ...columns.map((cells) => cells[i]), inCell(...fastapi)]);
  });
  return `# The same requests, asked of eight frameworks

\`node bench/peers/index.mjs\` starts each framework, sends ${requests.length} raw requests and writes this page. ${new Date().toISOString().slice(0, 10)}, Node
${process.versions.node}; Elysia on Bun: ${versions().join(", ")}. \`NODE_ENV\` is \`production\`.

Each has the same routes ([Usher](usher.mjs), [the others](others/)), with its usual validator: Valibot for Usher, Zod for Hono, h3 and oRPC,
TypeBox for Elysia, Ajv with \`allErrors\` for Fastify, Effect Schema. No options are set, and no plugins. Several have a plugin or a line of
code for a row: this is what one gets without knowing of it. The requests are our choice, after what the issue trackers of these frameworks
ask for. FastAPI is not run: its column is by its documentation, version 0.141.

A cell in bold has what the second column asks for.

${row(["request", "needed", ...heads, "FastAPI"])}
${row(["---", "---", ...heads.map(() => "---"), "---"])}
${rows.join("\n")}

Where the body is wrong too, Usher names the values of path and query first: it reads the body only when path, query, headers and cookies are
right, and then lists everything that is wrong in the body.
`;
}

/** The rows of the page that compares. */
function brief() {
  const rows = requests.flatMap(({ brief, fastapi }, i) => {
    return brief === undefined ? [] : [row([brief, ...columns.map((cells) => cells[i]), inCell(...fastapi)])];
  });
  return [row(["", ...heads, "FastAPI"]), row(["---", ...heads.map(() => "---"), "---"]), ...rows].join("\n");
}

/** @param {readonly (string | undefined)[]} cells */
function row(cells) {
  return `| ${cells.join(" | ")} |`.replace("|  |", "| |");
}

function versions() {
  return frameworks.map(({ name, package: of }) => `${name} ${of === undefined ? ownVersion() : versionOf(of)}`);
}

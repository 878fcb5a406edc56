/**
 * Makes the README's pictures of the orders example, as it is built: `docs/images/docs.png`, its page `/docs` in Chromium, and
 * `docs/images/log.svg`, its log on a terminal. It needs `npm run build`, Chromium, and `script` of util-linux for the terminal.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

// Its types are the DOM's too, which the scripts do not have: a name in a variable keeps the compiler from them.
/** @type {string} */
const playwright = "playwright-core";
const { chromium } = await import(playwright);

const root = fileURLToPath(new URL("..", import.meta.url));
const images = join(root, "docs/images");
const columns = 144;

const data = mkdtempSync(join(tmpdir(), "usher-screenshots-"));
const command = `stty cols ${columns}; exec '${process.execPath}' '${root}dist/examples/orders/main.js'`;
const child = spawn("script", ["-qfec", command, "/dev/null"], {
  env: { ...process.env, PORT: "0", DATA_DIR: data },
  stdio: ["ignore", "pipe", "ignore"],
});
let log = "";
child.stdout.setEncoding("utf8").on("data", (part) => (log += part));
try {
  const url = await listening();
  log = log.slice(log.lastIndexOf("\n", log.indexOf("listening on")) + 1);
  await ask(url);
  await sleep(500);
  writeFileSync(join(images, "log.svg"), terminal(log.replace(/:\d+ \(/, ":8080 (")));
  await photograph(url);
} finally {
  child.kill();
  if (child.exitCode === null) await once(child, "close");
  // The example's PostgreSQL ends a little later.
  while (existsSync(join(data, "data/postmaster.pid"))) await sleep(100);
  rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
}

/** @returns {Promise<string>} */
async function listening() {
  for (;;) {
    const url = /listening on (http:\/\/\S+)/.exec(log)?.[1];
    if (url !== undefined) return url;
    if (child.exitCode !== null) throw new Error(`the example ended: ${log}`);
    await sleep(100);
  }
}

/** @param {string} url */
async function ask(url) {
  const order = (/** @type {unknown} */ body) => ({
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await fetch(`${url}/orders`, order({ item: "pen", quantity: 2 }));
  await fetch(`${url}/orders?page=2`);
  await fetch(`${url}/orders`, order({ item: "", quantity: 0.5 }));
  await fetch(`${url}/orders`, order({ item: "unicorn", quantity: 1 }));
}

/** @param {string} url */
async function photograph(url) {
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium", args });
  const page = await browser.newPage({ viewport: { width: 1100, height: 700 }, colorScheme: "light" });
  await page.goto(`${url}/docs`);
  await page.getByRole("link", { name: "Place an order" }).first().click();
  await page.getByRole("heading", { name: "Place an order" }).first().scrollIntoViewIfNeeded();
  await page.screenshot({ path: join(images, "docs.png") });
  await browser.close();
}

/** An SVG of lines with the colors of ANSI. Lines are wrapped where the terminal would. @param {string} text */
function terminal(text) {
  const lines = text
    .trimEnd()
    .split(/\r?\n/)
    .flatMap((line) => wrapped(spansOf(line)));
  const [charWidth, lineHeight, margin] = [7.3, 19, 16];
  const width = Math.round(columns * charWidth + 2 * margin);
  const height = lines.length * lineHeight + 2 * margin;
  const rows = lines.map((spans, i) => {
    const drawn = spans.map(({ text, style }) => `<tspan class="${style}">${escaped(text)}</tspan>`).join("");
    return `<text x="${margin}" y="${margin + 14 + i * lineHeight}">${drawn}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The log on a terminal">
<style>
  text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre }
  .dim { fill: #8b949e }
  .green { fill: #56d364 }
  .yellow { fill: #e3b341 }
  .red { fill: #ff7b72 }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#161b22"/>
${rows.join("\n")}
</svg>
`;
}

/** @typedef {{ text: string, style: string }} Span */

/** @param {string} line @returns {Span[]} */
function spansOf(line) {
  const styles = new Map([
    ["2", "dim"],
    ["31", "red"],
    ["32", "green"],
    ["33", "yellow"],
  ]);
  let style = "plain";
  return line.split(/(\x1b\[\d*m)/).flatMap((text) => {
    const code = /^\x1b\[(\d*)m$/.exec(text)?.[1];
    if (code === undefined) return text === "" ? [] : [{ text, style }];
    style = styles.get(code) ?? "plain";
    return [];
  });
}

/** @param {readonly Span[]} spans @returns {Span[][]} */
function wrapped(spans) {
  /** @type {Span[][]} */
  const lines = [[]];
  let left = columns;
  for (const { text, style } of spans) {
    for (let rest = text; rest !== "";) {
      if (left === 0) {
        lines.push([]);
        left = columns;
      }
      const part = rest.slice(0, left);
      lines.at(-1)?.push({ text: part, style });
      left -= part.length;
      rest = rest.slice(part.length);
    }
  }
  return lines;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

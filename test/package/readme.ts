/** What the README and the page of the installation tell a new user to write and to type. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./packed.ts";

const readme = readFileSync(join(root, "README.md"), "utf8");
const install = readFileSync(join(root, "docs/guides/install.md"), "utf8");

const [hello = "", orders = ""] = blocksOf(readme, "ts");
const [installed = "", workers = ""] = blocksOf(install, "ts");

/** The first program of the README, and that of the page of the installation, which is the same. */
export const helloPrograms: readonly string[] = [hello, installed];

/** The README's program with a refusal. */
export const program: string = orders;

/** The same for Workers: its last line, and where `serve` is from, are those of the section on Workers. */
export const worker: string = (() => {
  // Its first line says that it is a part of a program.
  const [, imported = "", , exported = ""] = workers.split("\n");
  return orders
    .replace(/^import \{ serve \}.*$/m, imported)
    .replace(/^await serve.*$/m, exported.replace("hello", "place"));
})();

/** The configuration of Wrangler. */
export const wrangler: string = blocksOf(install, "toml")[0] ?? "";

/** The compiler's sentence for a refusal that is not declared: the text that follows the README's answer to the first curl. */
export const undeclared: string = (blocksOf(readme, "text")[1] ?? "").trim();

/** What installs the package, and what runs the program, by the first word of the runtime's row. */
export function commandsOf(runtime: string): { readonly install: string; readonly run: string } {
  const row = new RegExp(`^\\| ${runtime}[^|]*\\| \`([^\`]+)\` \\| \`([^\`]+)\` \\|$`, "m").exec(install);
  return { install: row?.[1] ?? "", run: row?.[2] ?? "" };
}

/** The curl command of the first program, with the text that is shown below it. */
export const greeting: readonly [command: string, answer: string] = answersOf("text")[0] ?? ["", ""];

/** Each curl command on the README's program with a refusal, with the answer that is shown below it. */
export const answers: readonly (readonly [command: string, answer: string])[] = answersOf("json");

function answersOf(language: string): readonly (readonly [command: string, answer: string])[] {
  const shown = new RegExp(`^\`\`\`sh\n(curl [^\n]+)\n\`\`\`\n+\`\`\`${language}\n([^]*?)^\`\`\`$`, "gm");
  return [...readme.matchAll(shown)].map(([, command = "", answer = ""]) => [command, answer]);
}

/** The blocks of code of a language, in their order. */
function blocksOf(text: string, language: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "gm"))].map(([, code = ""]) => code);
}

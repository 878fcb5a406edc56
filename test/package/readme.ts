/** What the README tells a new user to write and to type. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./packed.ts";

const text = readFileSync(join(root, "README.md"), "utf8");

/** The blocks of code of a language, in their order. */
export function blocksOf(language: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "gm"))].map(([, code = ""]) => code);
}

const [server = "", workers = ""] = blocksOf("ts");

/** The program of the first screen. */
export const program: string = server;

/** The same for Workers: its last line, and where `serve` is from, are those of the section on Workers. */
export const worker: string = (() => {
  const [imported = "", , exported = ""] = workers.split("\n");
  return server.replace(/^import \{ serve \}.*$/m, imported).replace(/^await serve.*$/m, exported);
})();

/** What installs the package, and what runs the program, by the first word of the runtime's row. */
export function commandsOf(runtime: string): { readonly install: string; readonly run: string } {
  const row = new RegExp(`^\\| ${runtime}[^|]*\\| \`([^\`]+)\` \\| \`([^\`]+)\` \\|$`, "m").exec(text);
  return { install: row?.[1] ?? "", run: row?.[2] ?? "" };
}

/** Each curl command on the program of the first screen, with the answer that is shown below it. */
export const answers: readonly (readonly [command: string, answer: string])[] = [
  ...text.matchAll(/^```sh\n(curl [^\n]+)\n```\n+```json\n([^]*?)^```$/gm),
].map(([, command = "", answer = ""]) => [command, answer]);

import { parseArgs } from "node:util";
import { read } from "../adapters/files/read.ts";
import type { BundledFiles } from "../adapters/files/bundle.ts";
import { decode } from "../src/http/bytes.ts";
import { CommandFailure, UsageError } from "./command.ts";
import type { Command } from "./command.ts";
import { textDiff, writeOrCheck } from "./write-or-check.ts";

const help = `usher bundle <folder> [options]

Writes the files of a folder as a module that exports them as "site", for Files.bundle of usher-http/files. The module is
TypeScript and JavaScript, and imports nothing: any bundler takes it.

  -o, --output FILE    write to the file instead of standard output
      --check FILE     compare with the file; exit code 1 if they differ
      --dotfiles NAMES the hidden files and folders to take, separated by commas; .well-known by default
      --max-bytes N    fail where the files have more together; 33554432 (32 MiB) by default`;

/** `usher bundle`: writes a folder as a module. */
export const bundle: Command = {
  name: "bundle",
  summary: "write a folder as a module, for a single executable or a Worker",
  help,
  async run(args, terminal) {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        output: { type: "string", short: "o" },
        check: { type: "string" },
        dotfiles: { type: "string", default: ".well-known" },
        "max-bytes": { type: "string" },
      },
    });
    const [folder, ...more] = positionals;
    if (folder === undefined) throw new UsageError("the folder is missing");
    if (more.length > 0) throw new UsageError(`give one folder, not ${more.length + 1}`);
    const { output, check, dotfiles, "max-bytes": maxBytes } = values;
    if (maxBytes !== undefined && !/^\d{1,15}$/.test(maxBytes)) {
      throw new UsageError(`--max-bytes must be a whole number, not ${maxBytes}`);
    }
    const names = dotfiles === "" ? [] : dotfiles.split(",");
    const files = filesOf(folder, {
      dotfiles: names,
      ...(maxBytes === undefined ? {} : { maxBytes: Number(maxBytes) }),
    });
    return writeOrCheck(moduleOf(files), { output, check }, terminal, differenceOf);
  },
};

/** A line has a whole file: its name is shown, and a little of it. */
function differenceOf(before: string, after: string): readonly string[] {
  return textDiff(before, after).map((line) => (line.length > 100 ? `${line.slice(0, 97)}...` : line));
}

function filesOf(
  folder: string,
  options: { readonly dotfiles: readonly string[]; readonly maxBytes?: number },
): BundledFiles {
  try {
    return read(folder, options);
  } catch (thrown) {
    throw new CommandFailure(
      (thrown as Error).message.replace(/^Files\.read: /, "").replace("maxBytes", "--max-bytes"),
    );
  }
}

function moduleOf(files: BundledFiles): string {
  const members = Object.entries(files).map(([path, content]) => {
    // A member `__proto__` would set the prototype.
    const name = path === "__proto__" ? `["__proto__"]` : JSON.stringify(path);
    return `  ${name}: ${valueOf(content as Uint8Array)},\n`;
  });
  return `/** Written by \`usher bundle\`. */\nexport const site = {\n${members.join("")}};\n`;
}

function valueOf(bytes: Uint8Array): string {
  const text = decode(bytes);
  // A binary file may be UTF-8 by chance; escaped it would be six times as long.
  if (text !== undefined && !text.includes("\0")) return JSON.stringify(text);
  return `{ base64: ${JSON.stringify(Buffer.from(bytes).toString("base64"))} }`;
}

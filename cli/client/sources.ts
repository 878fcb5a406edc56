import { readFileSync } from "node:fs";
import { packageFile } from "../package-file.ts";

/** What the typed client runs, and of other files the types that it speaks of. */
const files: readonly (readonly [file: string, names?: readonly string[]])[] = [
  ["inputs/of-body", ["BodyToSend"]],
  ["refusals/framework-codes", ["FrameworkCode"]],
  ["answers/returned", ["Succeeded"]],
  ["client/calls", ["ClientOptions", "ClientCode", "CallOptions", "Refused", "RefusedAs"]],
  ["streams/event-reader"],
  ["client/waiting"],
  ["client/received"],
  ["client/beyond-json"],
  ["streams/text-kinds", ["askingForTextKinds"]],
  ["client/request"],
  ["client/outcome"],
  ["client/call"],
];

/** One declaration, or a few that stand together. */
interface Declarations {
  readonly names: readonly string[];
  readonly text: string;
}

/** The declarations that some names need, in an order that has what is used before what uses it. */
export function sourcesOf(roots: readonly string[]): readonly string[] {
  const all = files.flatMap(([file, names]) => {
    const found = declarationsOf(readFileSync(packageFile(`src/${file}.ts`), "utf8"));
    return names === undefined ? found : found.filter((one) => one.names.some((name) => names.includes(name)));
  });
  const needed = new Set<Declarations>();
  const need = (name: string): void => {
    for (const declarations of all) {
      if (needed.has(declarations) || !declarations.names.includes(name)) continue;
      needed.add(declarations);
      wordsOf(declarations.text).forEach(need);
    }
  };
  roots.forEach(need);
  return all.filter((declarations) => needed.has(declarations)).map(({ text }) => text);
}

// Only between declarations is an empty line followed by one that begins at the margin.
function declarationsOf(source: string): readonly Declarations[] {
  const inOneModule = source.replaceAll(/^import [^;]*;\n/gm, "").replaceAll(/\(await import\([^)]*\)\)\./g, "");
  return inOneModule.split(/\n\n(?=\S)/).map((text) => ({ names: namesIn(text), text: text.trim() }));
}

function namesIn(text: string): readonly string[] {
  const declared = /^(?:export )?(?:declare )?(?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm;
  return [...text.matchAll(declared)].map(([, name]) => name ?? "");
}

/** What is neither said in a comment nor in a text. */
function wordsOf(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*|"[^"\n]*"/g, "");
  return [...code.matchAll(/[A-Za-z_]\w*/g)].map(([word]) => word);
}

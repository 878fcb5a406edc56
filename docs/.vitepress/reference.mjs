/**
 * Makes `docs/reference` from the TSDoc in the declarations that the package ships: a page for each entry, each namespace and each family of
 * names. A function or a value whose TSDoc has no example gets one of the guides.
 */
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { Application } from "typedoc";
import { arrange } from "./arrange.mjs";
import { examplesIn } from "./examples.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const out = join(root, "docs/reference");
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
// An entry that is a namespace, as `usher-http/query`, has the page of that namespace.
const entryPoints = Object.values(exports).flatMap(({ types }) =>
  types === undefined || types.includes("/namespaces/") ? [] : [join(root, types)],
);
const cache = join(root, "node_modules/.cache");
const tsconfig = join(cache, "docs-reference.json");
mkdirSync(cache, { recursive: true });
writeFileSync(
  tsconfig,
  JSON.stringify({
    compilerOptions: {
      target: "es2023",
      module: "nodenext",
      lib: ["es2024", "esnext.disposable", "dom", "dom.iterable", "dom.asynciterable"],
      types: ["node"],
      strict: true,
      skipLibCheck: true,
      noEmit: true,
    },
    files: entryPoints,
  }),
);
rmSync(out, { recursive: true, force: true });

/** @type {Partial<import("typedoc").TypeDocOptions> & Partial<import("typedoc-plugin-markdown").PluginOptions>} */
const options = {
  plugin: ["typedoc-plugin-markdown"],
  entryPoints,
  outputs: [{ name: "markdown", path: out }],
  name: "usher-http",
  tsconfig,
  readme: "none",
  skipErrorChecking: true,
  disableSources: true,
  excludeInternal: true,
  excludePrivate: true,
  // What an error has of `Error`.
  excludeExternals: true,
  externalPattern: ["**/node_modules/typescript/**", "**/node_modules/@types/node/**"],
  sort: ["alphabetical"],
  // What a program calls is read more than the types of it.
  groupOrder: ["Modules", "Namespaces", "Functions", "Variables", "Classes", "Interfaces", "Type Aliases", "*"],
  // A type that is not exported is shown where it is used, by its name.
  validation: false,
  logLevel: "Warn",
  outputFileStrategy: "modules",
  entryFileName: "index.md",
  hideBreadcrumbs: true,
  hidePageHeader: true,
  useCodeBlocks: true,
  expandObjects: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  classPropertiesFormat: "table",
  propertyMembersFormat: "table",
  typeDeclarationFormat: "table",
  tableColumnSettings: {
    hideDefaults: true,
    hideInherited: true,
    hideModifiers: true,
    hideOverrides: true,
    hideSources: true,
  },
};
const app = await Application.bootstrapWithPlugins(options);
const project = await app.convert();
if (project === undefined) throw new Error("TypeDoc could not read the declarations");
await app.generateOutputs(project);

const exampleOf = examplesIn(root);

// The main entry is named by its file, `index`.
renameSync(join(out, "index"), join(out, "usher-http"));
for (const file of readdirSync(out, { recursive: true, encoding: "utf8" })) {
  if (file.endsWith(".md")) finish(file);
}
for (const file of readdirSync(out, { recursive: true, encoding: "utf8" })) {
  if (file.endsWith(".md")) mendAnchors(file);
}
arrange(out, exports);

/** TypeDoc counts headings that are left out: the link to the second `route` is then to the first. @param {string} file */
function mendAnchors(file) {
  const text = readFileSync(join(out, file), "utf8").replaceAll(
    /\]\(([^)#]*)#([\w-]+?)-(\d+)\)/g,
    (link, to, name, count) => {
      const headings = readFileSync(join(out, to === "" ? file : join(dirname(file), to)), "utf8").matchAll(
        /^##+ (.*)$/gm,
      );
      const same = [...headings].filter(
        ([, heading = ""]) => heading.toLowerCase().replaceAll(/[^\w -]/g, "") === name,
      );
      return same.length > Number(count) ? link : `](${to}#${name})`;
    },
  );
  writeFileSync(join(out, file), text);
}

/** Leaves out what only repeats the signature above it, and adds examples. @param {string} file */
function finish(file) {
  const path = join(out, file);
  const text = readFileSync(path, "utf8")
    .replaceAll(/(\]\((?:\.\.\/)*)index\//g, "$1usher-http/")
    .replaceAll(/^##+ Type Parameters\n\n\| Type Parameter \|\n(?:\|.*\n)+\n/gm, "")
    .replaceAll(/^##+ Returns\n\n[^\n]*(?:\n(?!\n|#|\*\*\*)[^\n]*)*\n\n(?=#|\*\*\*)/gm, "")
    .replaceAll(/^##+ (?:Overrides|Inherited from)\n\n[^\n]*\n\n/gm, "")
    .replaceAll(/ \| - \|$/gm, " |  |")
    .replaceAll(/^\*\*\*\n\n/gm, "");
  writeFileSync(path, withExamples(file, text));
}

/** @param {string} file Such as `usher-http/namespaces/Query.md`. @param {string} text */
function withExamples(file, text) {
  const [, folder = "", rest = ""] = /^([\w-]+)(?:\.md|\/(.*))$/.exec(file) ?? [];
  const entry = folder === "usher-http" ? folder : `usher-http/${folder}`;
  const namespaces = [...rest.matchAll(/namespaces\/(\w+)/g)].map(([, name]) => name);
  return text.replaceAll(/^## (?:Functions|Variables)\n[^]*?(?=^## |(?![^]))/gm, (section) =>
    section.replaceAll(/^### (\w+)(?:\(\))?\n[^]*?(?=^### |(?![^]))/gm, (part, name) => {
      const example = exampleOf(entry, [...namespaces, name].join("."));
      if (example === undefined || /^#+ Examples?$/m.test(part)) return part;
      const link = `${"../".repeat(file.split("/").length)}${example.source}`;
      return `${part.trimEnd()}\n\n#### Example\n\n\`\`\`ts\n${example.text}\n\`\`\`\n\nFrom [${example.title}](${link}).\n\n`;
    }),
  );
}

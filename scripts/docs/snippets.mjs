/**
 * Compiles every TypeScript snippet of the documentation against the declarations in `dist`.
 *
 * - A snippet is a module. It may use what an earlier snippet of its page declares at the top.
 * - One that imports nothing from `usher-http` gets the framework's names, as pages write the imports once. Its first line says so to
 *   the reader: `// Part of a program.` So does one that imports them, and uses what an earlier snippet declares, or what is left to
 *   the reader. Any other is a whole program, and imports each name that it uses.
 * - A line `// routes.ts` at its start, or `**`routes.ts`**` before it, names its file, for snippets that import `./routes.ts`.
 * - What a page leaves to the reader (`store`, `findOrder`) is declared in `test/docs/given/<page>.ts`, or for all pages in
 *   `test/docs/given.ts`. The files of the folders `test/docs/given/<page>` and `examples/<page>` are next to the page's snippets.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path/posix";
import { parseSync, Visitor } from "oxc-parser";

const options = {
  target: "es2023",
  module: "nodenext",
  lib: ["es2024", "esnext.disposable", "dom", "dom.iterable", "dom.asynciterable"],
  types: ["node"],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
};

/** The imports that a snippet may leave out, besides the framework's. */
const usual = new Map([
  ["v", 'import * as v from "valibot";'],
  ["createHash", 'import { createHash } from "node:crypto";'],
  ["createServer", 'import { createServer } from "node:http";'],
]);

/** The first line of a snippet that is not whole: `// routes.ts, part of a program`, if the page names its file. */
const mark = /^\/\/ (?:[\w./-]+\.ts, p|P)art of a program\b/;

/** Where a name of the framework comes from, the first entry that has it. */
const entries = ["usher-http", "usher-http/node", "usher-http/postgres"];

/** @typedef {{ readonly file: string, readonly line: number, readonly name: string | undefined, readonly text: string }} Snippet */
/** @typedef {{ readonly path: string, readonly snippet: Snippet, readonly isPart: boolean, readonly isProgram: boolean, readonly exported: ReadonlySet<string> }} Module */

/** @param {string} root @param {readonly string[]} pages @returns {string[]} One line for each error. */
export function wrongSnippets(root, pages) {
  const folder = join(root, "node_modules/.cache/docs-snippets");
  rmSync(folder, { recursive: true, force: true });
  const names = publicNames(root);
  const shared = join(root, "test/docs/given.ts");
  cpSync(shared, join(folder, "given.ts"));
  /** @type {Map<string, Snippet>} */
  const snippets = new Map();
  /** @type {string[]} */
  const unmarked = [];
  for (const page of pages) {
    const name = page.replace(/^docs\//, "").replace(/\.md$/, "");
    const given = join(root, "test/docs/given", name);
    const beside = join(folder, page.replace(/\.md$/, ""));
    for (const files of [join(root, "examples", name), given]) copySources(files, beside);
    if (existsSync(`${given}.ts`)) cpSync(`${given}.ts`, join(beside, "given.ts"));
    const hidden = [join(beside, "given.ts"), join(folder, "given.ts")].filter((file) => existsSync(file));
    for (const { path, snippet, isPart, isProgram } of modulesOf(join(root, page), page, beside, hidden, names)) {
      snippets.set(relative(folder, path), snippet);
      const isMarked = mark.test(snippet.text);
      // Code of another framework, with its own imports, may be either.
      if (isPart === isMarked || (isPart && !isProgram && /^import /m.test(snippet.text))) continue;
      const what = isPart
        ? "uses what it does not import: begin it with `// Part of a program.`"
        : "is whole, and says that it is a part";
      unmarked.push(`${page}:${snippet.line}: the snippet ${what}`);
    }
  }
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...options, paths: pathsIn(root) } }),
  );
  return [...unmarked, ...compile(root, folder).map((line) => asInPage(line, snippets))];
}

/** Writes the snippets of one page. @param {string} path @param {string} page @param {string} folder @param {readonly string[]} hidden @param {ReadonlyMap<string, string>} names */
function modulesOf(path, page, folder, hidden, names) {
  const given = hidden.map((file) => ({ path: file, exported: declaredIn(readFileSync(file, "utf8")).exported }));
  /** @type {Module[]} */
  const modules = [];
  let generation = folder;
  /** @type {Map<string, string>} */
  const named = new Map();
  for (const [i, snippet] of snippetsOf(path, page).entries()) {
    const { name } = snippet;
    if (name !== undefined && named.has(name)) {
      generation = join(folder, `generation-${i}`);
      for (const [other, text] of named) write(join(generation, other), text);
    }
    const file = join(generation, name ?? `snippet-${i}.ts`);
    const declared = declaredIn(snippet.text);
    const from = (/** @type {string} */ name) => {
      const before =
        modules.findLast(({ exported }) => exported.has(name)) ?? given.find(({ exported }) => exported.has(name));
      if (before !== undefined) return `import { ${name} } from "./${relative(dirname(file), before.path)}";`;
      const entry = declared.isProgram ? undefined : names.get(name);
      return entry === undefined ? (usual.get(name) ?? "") : `import { ${name} } from "${entry}";`;
    };
    const imports = [...declared.used].flatMap((name) => (declared.all.has(name) ? [] : from(name))).join("");
    const exported = [...declared.all].filter((name) => !declared.imported.has(name));
    const unexported = exported.filter((name) => !declared.exported.has(name));
    const text = `${imports}${snippet.text}\nexport { ${unexported.join(", ")} };\n`;
    if (name !== undefined) named.set(name, text);
    write(file, text);
    const isBorrowed = (/** @type {string} */ name) =>
      !declared.all.has(name) && !declared.inner.has(name) && from(name) !== "";
    const isPart = declared.isProgram ? [...declared.used].some(isBorrowed) : imports !== "";
    modules.push({ path: file, snippet, isPart, isProgram: declared.isProgram, exported: new Set(exported) });
  }
  return modules;
}

/** @param {string} path @param {string} page @returns {Snippet[]} */
function snippetsOf(path, page) {
  const text = readFileSync(path, "utf8");
  return [...text.matchAll(/^( *)```ts\n([^]*?)^ *```$/gm)].map(({ index, 1: indent = "", 2: code = "" }) => {
    const before = text.slice(0, index);
    const [, heading] = /^\*\*`([\w./-]+\.ts)`\*\*.*\s*$/m.exec(before.split("\n").slice(-3).join("\n")) ?? [];
    const [, comment] = /^\/\/ ([\w./-]+\.ts)\b/.exec(code) ?? [];
    return {
      file: page,
      line: before.split("\n").length + 1,
      name: comment ?? heading,
      text: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    };
  });
}

/** The names that a module declares, exports and imports at its top, and all names in it. @param {string} text */
function declaredIn(text) {
  const { program } = parseSync("snippet.ts", text);
  /** @type {Set<string>} */
  const all = new Set();
  /** @type {Set<string>} */
  const exported = new Set();
  /** @type {Set<string>} */
  const imported = new Set();
  /** @type {Set<string>} */
  const used = new Set();
  /** Those of parameters and of inner scopes. @type {Set<string>} */
  const inner = new Set();
  let isProgram = false;
  for (const statement of program.body) {
    if (statement.type === "ImportDeclaration") {
      isProgram ||= statement.source.value.startsWith("usher-http");
      for (const { local } of statement.specifiers) imported.add(local.name);
    } else if (statement.type === "ExportNamedDeclaration") {
      for (const { exported: as } of statement.specifiers) exported.add("name" in as ? as.name : as.value);
      for (const name of namesIn(statement.declaration)) exported.add(name);
    } else for (const name of namesIn(statement)) all.add(name);
  }
  const takes = (/** @type {{ readonly params: readonly import("oxc-parser").ParamPattern[] }} */ { params }) => {
    for (const param of params) {
      const pattern = param.type === "RestElement" ? param.argument : "parameter" in param ? param.parameter : param;
      for (const name of boundBy(pattern)) inner.add(name);
    }
  };
  /** Where a name is one of a member, and not of a variable. @type {Set<number>} */
  const members = new Set();
  new Visitor({
    MemberExpression: ({ computed, property }) => void (computed || members.add(property.start)),
    Property: ({ computed, shorthand, key }) => void (computed || shorthand || members.add(key.start)),
    TSPropertySignature: ({ computed, key }) => void (computed || members.add(key.start)),
    ArrowFunctionExpression: (made) => takes(made),
    FunctionExpression: (made) => takes(made),
    FunctionDeclaration: (made) => takes(made),
    VariableDeclarator: ({ id }) => boundBy(id).forEach((name) => inner.add(name)),
    CatchClause: ({ param }) => param && boundBy(param).forEach((name) => inner.add(name)),
    Identifier: ({ name, start }) => void (members.has(start) || used.add(name)),
  }).visit(program);
  for (const name of [...exported, ...imported]) all.add(name);
  return { all, exported, imported, used, inner, isProgram };
}

/** @param {import("oxc-parser").Statement | import("oxc-parser").Declaration | null} statement @returns {string[]} */
function namesIn(statement) {
  if (statement === null) return [];
  if (statement.type === "VariableDeclaration") return statement.declarations.flatMap(({ id }) => boundBy(id));
  return "id" in statement && statement.id?.type === "Identifier" ? [statement.id.name] : [];
}

/** @param {import("oxc-parser").BindingPattern} pattern @returns {string[]} */
function boundBy(pattern) {
  if (pattern.type === "Identifier") return [pattern.name];
  if (pattern.type === "AssignmentPattern") return boundBy(pattern.left);
  if (pattern.type === "ArrayPattern") {
    return pattern.elements.flatMap((one) => (one === null || one.type === "RestElement" ? [] : boundBy(one)));
  }
  return pattern.properties.flatMap((one) => (one.type === "RestElement" ? [] : boundBy(one.value)));
}

/** @param {string} root @returns {ReadonlyMap<string, string>} Each name without a dot, and its entry. */
function publicNames(root) {
  const text = readFileSync(join(root, "test/package/exports.txt"), "utf8");
  const sections = new Map(text.split(/^# /m).map((part) => [part.slice(0, part.indexOf("\n")), part]));
  const all = entries.toReversed().flatMap((entry) => {
    return [...(sections.get(entry) ?? "").matchAll(/^(?:type )?(\w+)$/gm)].map(
      ([, name = ""]) => /** @type {const} */ ([name, entry]),
    );
  });
  return new Map(all);
}

/** @param {string} root @returns {Record<string, string[]>} */
function pathsIn(root) {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.fromEntries(
    Object.entries(exports).flatMap(([entry, { types }]) => {
      return types === undefined ? [] : [[join("usher-http", entry), [join(root, types)]]];
    }),
  );
}

/** @param {string} root @param {string} folder @returns {string[]} */
function compile(root, folder) {
  try {
    execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."], {
      cwd: folder,
      encoding: "utf8",
    });
    return [];
  } catch (error) {
    const { stdout } = /** @type {{ readonly stdout?: string }} */ (error);
    if (stdout === undefined || stdout === "") throw error;
    return stdout.split("\n").filter((line) => /^\S.*error TS/.test(line));
  }
}

/** @param {string} line @param {ReadonlyMap<string, Snippet>} snippets */
function asInPage(line, snippets) {
  const [, file = "", at = "", message = ""] = /^(.+?)\((\d+),\d+\): error (.*)$/.exec(line) ?? [];
  const snippet = snippets.get(file);
  return snippet === undefined ? line : `${snippet.file}:${snippet.line + Number(at) - 1}: ${message}`;
}

/** @param {string} from @param {string} to */
function copySources(from, to) {
  if (!existsSync(from)) return;
  const filter = (/** @type {string} */ path) => !/\.\w+$/.test(path) || /\.(?:ts|json)$/.test(path);
  cpSync(from, to, { recursive: true, filter });
}

/** @param {string} path @param {string} text */
function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

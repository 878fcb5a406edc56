/** Lists the public names, and the members of public types, that have no TSDoc in the declarations that the package ships. */
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path/posix";

/** @typedef {typeof import("../../test/package/consumer/node_modules/typescript/lib/typescript.js")} Ts */

/** @param {string} root @returns {string[]} One line for each name. */
export function withoutTsdoc(root) {
  // TypeScript 7 has no compiler API in JavaScript yet.
  const require = createRequire(join(root, "test/package/consumer/package.json"));
  const ts = /** @type {Ts} */ (require("typescript"));
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  /** @type {[string, string][]} */
  const entries = Object.entries(exports).flatMap(([entry, { types }]) => {
    return types === undefined ? [] : [[join("usher-http", entry), join(root, types)]];
  });
  const options = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
    strict: true,
    types: [],
  };
  const program = ts.createProgram(
    entries.map(([, file]) => file),
    options,
  );
  const checker = program.getTypeChecker();
  /** @type {Set<import("../../test/package/consumer/node_modules/typescript/lib/typescript.js").Symbol>} */
  const seen = new Set();
  const dist = join(root, "dist/");

  /** @param {import("../../test/package/consumer/node_modules/typescript/lib/typescript.js").Symbol} symbol @param {string} name @returns {string[]} */
  const check = (symbol, name) => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    if (seen.has(target)) return [];
    seen.add(target);
    const declarations = (target.declarations ?? []).filter((one) => one.getSourceFile().fileName.startsWith(dist));
    if (declarations.length === 0) return [];
    if (target.flags & ts.SymbolFlags.Module && declarations.some(ts.isSourceFile)) {
      return checker.getExportsOfModule(target).flatMap((one) => check(one, `${name}.${one.name}`));
    }
    const own = hasText(target, declarations) ? [] : [`${name} has no TSDoc`];
    const members = declarations.flatMap((one) => membersOf(one));
    const bare = members.flatMap((member) => {
      const symbol = checker.getSymbolAtLocation(member.name);
      return symbol === undefined || hasText(symbol, [member])
        ? []
        : [`${name} has no TSDoc at ${member.name.getText()}`];
    });
    return [...own, ...bare];
  };

  /** An alias of a type, `type App = AppType`, is documented where the type is. */
  const hasText = (
    /** @type {import("../../test/package/consumer/node_modules/typescript/lib/typescript.js").Symbol} */ symbol,
    /** @type {readonly import("../../test/package/consumer/node_modules/typescript/lib/typescript.js").Declaration[]} */ declarations,
  ) =>
    symbol.getDocumentationComment(checker).length > 0 ||
    declarations.every(
      (one) =>
        ts.isTypeAliasDeclaration(one) &&
        ts.isTypeReferenceNode(one.type) &&
        one.getSourceFile().fileName.endsWith("index.d.ts"),
    );

  /** @param {import("../../test/package/consumer/node_modules/typescript/lib/typescript.js").Declaration} declaration */
  const membersOf = (declaration) => {
    const members = ts.isInterfaceDeclaration(declaration)
      ? declaration.members
      : ts.isTypeAliasDeclaration(declaration) && ts.isTypeLiteralNode(declaration.type)
        ? declaration.type.members
        : [];
    return members.flatMap((one) => {
      return (ts.isPropertySignature(one) || ts.isMethodSignature(one)) && ts.isIdentifier(one.name)
        ? [{ ...one, name: one.name }]
        : [];
    });
  };

  const bare = entries.flatMap(([entry, file]) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    return module === undefined
      ? []
      : checker.getExportsOfModule(module).flatMap((one) => check(one, `${entry} ${one.name}`));
  });
  return [...bare, ...wrongLinks(dist)];
}

/**
 * A link finds the function of that name in the bundled declarations, and `make` is a function of many namespaces: `{@link make}` of
 * `Cors` led to `Password.make`. A type has a name of its own.
 *
 * @param {string} dist
 */
function wrongLinks(dist) {
  const files = readdirSync(dist).filter((file) => file.endsWith(".d.ts"));
  return files.flatMap((file) => {
    const links = readFileSync(join(dist, file), "utf8").matchAll(/\{@link[\s*]+([a-z]\w*)/g);
    return [...links].map(
      ([, name]) => `dist/${file}: write \`Namespace.${name}\`, or \`${name}\`, for {@link ${name}}`,
    );
  });
}

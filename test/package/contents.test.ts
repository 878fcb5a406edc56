/** The files of the package as npm would publish it. */
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseSync } from "oxc-parser";
import * as usher from "usher-http";
import { expect, it } from "vitest";
import { root } from "./packed.ts";
import { tarballOf } from "./tarball.ts";

const { files } = tarballOf(root);
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly exports: {
    readonly [entry: string]: {
      readonly types?: string;
      readonly node?: string;
      readonly workerd?: string;
      readonly default?: string;
    };
  };
};

function textOf(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/** The part of a file's name that a form captures, of each file that has the form. */
function namesOf(form: RegExp): readonly string[] {
  return files.flatMap((file) => form.exec(file)?.[1] ?? []).toSorted();
}

it("are scripts of ASCII only: another character makes V8 store a script with two bytes a character", () => {
  const scripts = files.filter((file) => /^dist\/.*\.js$/.test(file));
  expect(scripts).toContain("dist/core.js");
  expect(scripts.filter((file) => /[^\0-\x7f]/.test(textOf(file)))).toEqual([]);
});

it("are the built files, the sources that `usher client` copies, the documentation, the examples and the usual texts", () => {
  const others = files.filter((file) => !/^dist\/(namespaces\/)?[\w-]+\.(js|js\.map|d\.ts)$/.test(file));
  const texts = others.filter((file) => !/^(src|docs|examples)\//.test(file));
  const ofBench = ["bench/README.md", "bench/peers/README.md"];
  const usual = ["CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", "package.json"];
  expect(texts.toSorted()).toEqual([...usual, ...ofBench].toSorted());
  expect(others.filter((file) => file.startsWith("docs/") && !/^docs\/[\w/-]+\.(md|svg|png)$/.test(file))).toEqual([]);
  expect(files).toContain("docs/guides/routing.md");
  const sources = others.filter((file) => file.startsWith("src/"));
  expect(sources.map((file) => file.split("/").slice(0, 2).join("/"))).not.toContain("src/app");
  expect(sources.filter((file) => !file.endsWith(".ts"))).toEqual([]);
});

it("include the targets of every link and picture of the README", () => {
  const [, ...links] = textOf("README.md").split(/\]\(|src(?:set)?="/);
  const paths = links.flatMap((link) => /^(?![a-z]+:)[^#)"\s]+/.exec(link)?.[0] ?? []);
  expect(paths.length).toBeGreaterThan(15);
  expect(paths.filter((path) => !files.includes(path))).toEqual([]);
});

it("have the project's addresses in one place, with a description of the placeholders", () => {
  const { homepage, bugs, repository } = JSON.parse(textOf("package.json")) as {
    readonly [name: string]: string | { readonly url: string };
  };
  expect([homepage, bugs, repository]).not.toContain(undefined);
  const texts = ["package.json", "SECURITY.md"].map(textOf).join();
  for (const placeholder of texts.match(/\b[A-Z]+\.example\b/g) ?? []) {
    expect(textOf("CONTRIBUTING.md")).toContain(`\`${placeholder}\``);
    expect(textOf("README.md")).not.toContain(placeholder);
  }
});

it("are one for each entry, one for each namespace, and a few shared ones", () => {
  const nameOf = (path: string | undefined) => path?.slice("./dist/".length, -3) ?? [];
  const all = Object.values(exports).flatMap((entry) => nameOf(entry.default));
  // A namespace that is a module is the file that it has in any case.
  const entries = all.filter((name) => !name.startsWith("namespaces/"));
  const forRuntimes = Object.values(exports).flatMap((entry) => [nameOf(entry.node), nameOf(entry.workerd)].flat());
  const shared = [
    "compression",
    "core",
    "database",
    "disk",
    "representations",
    "server",
    "sign-in",
    "site",
    "testing",
    "tokens",
    "tools",
  ];
  const ofCommand = ["cli", "dev-program"];
  const ofPage = ["reader-script"];
  // Loaded only by a server with the options `tls` and `http2`, except the code that opens a WebSocket, and what it shares.
  const ofNode = ["connections", "http2", "secure", "upgrade"];
  // Each imports a package that may be missing, and is itself imported on demand.
  const ofPackages = ["jose-exports", "oauth-exports", "pem-exports"];
  const ofClient = ["body-until", "client-calls", "event-reader", "open-socket", "received"];
  expect(namesOf(/^dist\/([\w-]+)\.js$/)).toEqual(
    [...entries, ...forRuntimes, ...ofCommand, ...shared, ...ofClient, ...ofPage, ...ofNode, ...ofPackages].toSorted(),
  );
  expect(namesOf(/^dist\/([\w-]+)\.d\.ts$/)).toEqual([...entries, ...shared].toSorted());
  const ofIndex = Object.entries(usher).flatMap(([name, value]) => {
    return /^[A-Z]/.test(name) && typeof value === "object" ? [name] : [];
  });
  const ofOthers = [
    "ApiKeyTable",
    "Compress",
    "Conditional",
    "Conninfo",
    "Decompress",
    "File",
    "Files",
    "IdempotencyTable",
    "Jwt",
    "Mcp",
    "Oidc",
    "Pool",
    "SessionTable",
    "Statement",
    "Type",
  ];
  const namespaces = [...ofIndex, ...ofOthers].toSorted();
  expect(namesOf(/^dist\/namespaces\/(\w+)\.js$/)).toEqual(namespaces);
  expect(namesOf(/^dist\/namespaces\/(\w+)\.d\.ts$/)).toEqual(namespaces);
});

it("have the text of every source in their source maps", () => {
  const sources = files.flatMap((file) => {
    if (!file.endsWith(".map")) return [];
    const map = JSON.parse(textOf(file)) as { readonly sources: string[]; readonly sourcesContent: string[] };
    return map.sources.map((source, i) => ({ path: join(dirname(file), source), text: map.sourcesContent[i] }));
  });
  expect(sources.length).toBeGreaterThan(100);
  for (const { path, text } of sources) expect([path, text]).toEqual([path, textOf(path)]);
});

it("have no source maps of the command, of sentences and of tools, and name no map that is not there", () => {
  const mapped = namesOf(/^dist\/([\w-]+)\.js\.map$/);
  expect(mapped).toContain("core");
  expect(["cli", "dev-program", "languages", "tools"].filter((name) => mapped.includes(name))).toEqual([]);
  for (const file of files.filter((file) => /^dist\/.*\.js$/.test(file))) {
    const map = /^\/\/# sourceMappingURL=(.+)$/m.exec(textOf(file))?.[1];
    expect([file, map]).toEqual([file, files.includes(`${file}.map`) ? basename(`${file}.map`) : undefined]);
  }
});

it("import only the package's dependencies and peers", () => {
  const { dependencies, peerDependencies } = JSON.parse(textOf("package.json"));
  const known = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)]);
  const imported = new Set<string>();
  for (const file of files.filter((file) => /^dist\/.*\.(js|d\.ts)$/.test(file))) {
    for (const [, name = ""] of textOf(file).matchAll(
      /^(?:import|export)\s(?:[\w*{}\s,$]+\sfrom\s)?["']([^."'][^"']*)["'];?$/gm,
    )) {
      if (name.startsWith("node:") || name.startsWith("cloudflare:")) continue;
      imported.add(
        name
          .split("/")
          .slice(0, name.startsWith("@") ? 2 : 1)
          .join("/"),
      );
    }
  }
  expect(imported.size).toBeGreaterThan(3);
  expect([...imported].filter((name) => !known.has(name))).toEqual([]);
});

// A line of the log has the class of what was thrown.
it("name every class like its source", () => {
  const scripts = files.filter((file) => file.endsWith(".js"));
  const classes = scripts.flatMap((file) => {
    const found = [...textOf(file).matchAll(/\bclass ([\w$]+)|^(?:var|let|const) ([\w$]+) = class\b/gm)];
    return found.map(([, name, variable]) => name ?? variable);
  });
  expect(classes).toContain("DatabaseError");
  expect(classes.filter((name) => name?.includes("$"))).toEqual([]);
});

const sections = textOf("test/package/exports.txt").split(/^# /m).slice(1);
const listed = sections.map((section) => {
  const [entry = "", ...lines] = section.trim().split("\n");
  // The static members of a class are not exports.
  const names = lines.map((line) => line.replace("type ", "")).filter((name) => !name.startsWith("Refusal."));
  return { entry, names };
});

it.each(listed)("declare each name in exports.txt for $entry", ({ entry, names }) => {
  const file = exports[entry.replace("usher-http", ".")]?.types?.slice("./".length) ?? "";
  expect(new Set(declaredIn(file, ""))).toEqual(new Set(names));
});

/** What a file of declarations exports, with the members of its namespaces. */
function declaredIn(file: string, prefix: string): readonly string[] {
  const exported = parseSync(file, textOf(file)).module.staticExports.flatMap(({ entries }) => entries);
  return exported.flatMap(({ exportName, importName, moduleRequest }) => {
    const path = `${prefix}${exportName.name}`;
    if (!moduleRequest || importName.name !== null) return [path];
    const namespace = join(dirname(file), moduleRequest.value.replace(/js$/, "d.ts"));
    return [path, ...declaredIn(namespace, `${path}.`)];
  });
}

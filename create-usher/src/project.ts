import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Choices } from "./choices.ts";

/** The files of a project, by path, in the folder `templates`: each later layer adds to those before it. */
function layersOf({ runtime, database, sample, tests }: Choices): readonly string[] {
  const program = sample === "live" ? (database === "none" ? "memory" : "postgres") : kindOf(runtime);
  return [
    "base",
    ...(runtime === "workers" ? [] : ["server"]),
    runtime,
    ...(database === "none" ? [] : [database]),
    sample,
    `${sample}-${program}`,
    ...(tests === "pglite" ? [tests] : []),
  ];
}

function kindOf(runtime: Choices["runtime"]): "worker" | "server" {
  return runtime === "workers" ? "worker" : "server";
}

/**
 * Makes a project's files. A shell that npm starts ends on SIGTERM without its child: the scripts replace it by `exec`, which the
 * shell of Windows has not. @param templates The folder of the layers.
 */
export function filesOf(
  templates: string,
  choices: Choices,
  name: string,
  platform: NodeJS.Platform = process.platform,
): ReadonlyMap<string, string> {
  const words = new Set<string>([...Object.values(choices), kindOf(choices.runtime)]);
  const files = new Map<string, string>();
  for (const layer of layersOf(choices)) {
    for (const path of pathsIn(join(templates, layer))) {
      // npm leaves a file of that name out of a package.
      const written = path === "gitignore" ? ".gitignore" : path;
      const text = chosenLines(readFileSync(join(templates, layer, path), "utf8"), words);
      files.set(written, mergedInto(files.get(written), written, text));
    }
  }
  // The settings of this machine begin as the example has them.
  files.set(".env", files.get(".env.example") ?? "");
  if (platform === "win32")
    files.set("package.json", (files.get("package.json") ?? "").replaceAll('": "exec ', '": "'));
  return new Map([...files].map(([path, text]) => [path, named(path, text, name, choices)]));
}

function pathsIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) =>
    join(entry.parentPath, entry.name)
      .slice(folder.length + 1)
      .replaceAll("\\", "/"),
  );
}

/**
 * Leaves out the lines between a comment `if workers` and a comment `end` unless each word is chosen. `node|bun` is either.
 * The comment is one of the file's own language, so that the file is what an editor and a formatter take it for.
 */
function chosenLines(text: string, words: ReadonlySet<string>): string {
  let isChosen = true;
  const lines = text.split("\n").filter((line) => {
    const [, condition] = /^\s*(?:#|\/\/|<!--) (if [a-z| ]+|end)(?: -->)?$/.exec(line) ?? [];
    if (condition === undefined) return isChosen;
    const needed = condition === "end" ? [] : condition.slice("if ".length).trim().split(" ");
    isChosen = needed.every((word) => word.split("|").some((either) => words.has(either)));
    return false;
  });
  return lines.join("\n");
}

/** Two layers' JSON is merged as RFC 7396 has it: null removes a member. Of other files the later one stays. */
function mergedInto(before: string | undefined, path: string, text: string): string {
  if (before === undefined || !path.endsWith(".json")) return text;
  return `${JSON.stringify(merged(JSON.parse(before), JSON.parse(text)), undefined, 2)}\n`;
}

function merged(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after;
  const members = Object.entries(after).map(([name, value]) => [name, merged(before[name], value)] as const);
  return Object.fromEntries([...Object.entries(before), ...members].filter(([name]) => after[name] !== null));
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The templates are a project of the name `my-api` on Node. */
function named(path: string, text: string, name: string, { runtime }: Choices): string {
  // Cloudflare takes no scope and no dot in a Worker's name, Docker no tilde in an image's.
  const written = path === "package.json" ? name : name.replace(/^@.*\//, "").replaceAll(/[.~]/g, "-");
  return text.replaceAll("my-api", written).replaceAll('"usher-http/node"', `"usher-http/${runtime}"`);
}

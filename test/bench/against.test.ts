/** `npm run bench -- --against`: which build is measured, and when it is slower. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { root } from "../package/packed.ts";

interface Verdict {
  readonly ratio: number;
  readonly isSlower: boolean;
}

const { verdictOf } = (await import(join(root, "bench/against/index.mjs"))) as {
  readonly verdictOf: (name: string, ratios: readonly number[], bound: number) => Verdict;
};
const { builtWorktree } = (await import(join(root, "bench/against/worktree.mjs"))) as {
  readonly builtWorktree: (
    commit: string,
    build: (folder: string) => void,
  ) => { readonly hash: string; readonly url: URL; readonly close: () => void };
};

const git = (...args: readonly string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

describe("a build is slower", () => {
  it.each([
    {
      about: "with a median beyond the bound, and an interval above 1",
      ratios: [1.1, 1.08, 1.12, 1.07, 1.09],
      is: true,
    },
    { about: "not within the bound", ratios: [1.04, 1.03, 1.04, 1.02, 1.04], is: false },
    { about: "not where the interval has 1", ratios: [1.1, 0.9, 1.2, 1.3, 1.1], is: false },
    { about: "not with too few rounds to be sure", ratios: [1.5, 1.5, 1.5], is: false },
  ])("$about", ({ ratios, is }) => {
    expect(verdictOf("GET /", ratios, 1.05).isSlower).toBe(is);
  });
});

describe("the build of a commit", () => {
  it("is found by the benchmarks next to it, which are the current ones, and leaves nothing", () => {
    const trees = git("worktree", "list");
    const { hash, url, close } = builtWorktree("HEAD", (at) => {
      mkdirSync(join(at, "dist"), { recursive: true });
      writeFileSync(join(at, "dist/index-node.js"), "");
    });
    const at = fileURLToPath(url);
    try {
      expect(hash).toBe(git("rev-parse", "HEAD"));
      expect(createRequire(join(at, "bench/apps/usher.mjs")).resolve("usher-http")).toBe(
        join(realpathSync(at), "dist/index-node.js"),
      );
      expect(existsSync(join(at, "bench/harness/packages.mjs"))).toBe(true);
    } finally {
      close();
    }
    expect(existsSync(at)).toBe(false);
    expect(git("worktree", "list")).toBe(trees);
  });

  it("leaves nothing when it cannot be built, and names the commit", () => {
    const trees = git("worktree", "list");
    const build = () => {
      throw new Error("no compiler");
    };
    expect(() => builtWorktree("HEAD", build)).toThrow(
      "HEAD could not be built with the packages that are installed here",
    );
    expect(git("worktree", "list")).toBe(trees);
  });

  it("is refused if the commit does not exist", () => {
    expect(() => builtWorktree("no-such-commit", () => {})).toThrow(
      "--against no-such-commit: there is no such commit",
    );
  });
});

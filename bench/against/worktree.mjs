/** A commit, built in a temporary folder, with the benchmarks of this one. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { linkOwn } from "../harness/packages.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Builds a commit in a worktree of its own. Its packages are those that are installed here, and its benchmarks are copied from
 * here: only the framework differs.
 *
 * @param {string} commit
 * @param {(folder: string) => void} [build]
 */
export function builtWorktree(commit, build = npmBuild) {
  const hash = resolved(commit);
  const parent = mkdtempSync(join(tmpdir(), "usher-against-"));
  const folder = join(parent, "usher");
  const close = () => {
    git("worktree", "remove", "--force", folder);
    rmSync(parent, { recursive: true, force: true });
  };
  git("worktree", "add", "--quiet", "--detach", folder, hash);
  try {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    rmSync(join(folder, "bench"), { recursive: true, force: true });
    const isOurs = (path) => basename(path) !== "node_modules";
    cpSync(join(root, "bench"), join(folder, "bench"), { recursive: true, filter: isOurs });
    linkOwn(join(folder, "bench"));
    build(folder);
  } catch (thrown) {
    close();
    throw new Error(`${commit} could not be built with the packages that are installed here`, { cause: thrown });
  }
  return { hash, url: pathToFileURL(`${folder}/`), close };
}

/** @param {string} folder */
function npmBuild(folder) {
  execFileSync("npm", ["run", "--silent", "build"], { cwd: folder, stdio: "inherit" });
}

function resolved(commit) {
  try {
    return git("rev-parse", "--verify", "--quiet", "--end-of-options", `${commit}^{commit}`);
  } catch {
    throw new Error(`--against ${commit}: there is no such commit`);
  }
}

function git(...args) {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
}

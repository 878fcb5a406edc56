/** What npm would publish of a package, packed once in a run: to pack takes 4 s of processor time. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { madeOnce } from "../support/run-folder.ts";

export interface Tarball {
  /** Its path. */
  readonly file: string;
  /** What it holds, by path. */
  readonly files: readonly string[];
}

/** The tarball of the package in a folder. */
export function tarballOf(folder: string): Tarball {
  const packed = madeOnce(`packed-${basename(folder)}`, (into) => {
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", into];
    const out = execFileSync("npm", args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"], encoding: "utf8" });
    writeFileSync(join(into, "packed.json"), out);
  });
  const out = readFileSync(join(packed, "packed.json"), "utf8");
  const [tarball] = Object.values(
    JSON.parse(out) as readonly { readonly filename: string; readonly files: readonly { readonly path: string }[] }[],
  );
  if (tarball === undefined) throw new Error(`npm pack said ${out}`);
  return { file: join(packed, tarball.filename), files: tarball.files.map(({ path }) => path) };
}

/** Unpacks the tarball of the package in `folder` into `into`. To copy `dist` instead would meet the programs that other test files write and remove there. */
export function unpack(folder: string, into: string): Tarball {
  const tarball = tarballOf(folder);
  mkdirSync(into, { recursive: true });
  execFileSync("tar", ["-xzf", tarball.file, "-C", into, "--strip-components=1"]);
  return tarball;
}

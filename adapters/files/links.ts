/** Where a path leads to, once its symbolic links are resolved. */
import { sep } from "node:path";

/** The names of a path below a root, both without symbolic links; undefined where it is not in the root. */
export function namesBelow(root: string, path: string): readonly string[] | undefined {
  if (path === root) return [];
  const below = root.endsWith(sep) ? root : root + sep;
  return path.startsWith(below) ? path.slice(below.length).split(sep) : undefined;
}

/**
 * Whether a link leads to a hidden file or folder, which is not sent by its own name either. Names that begin with two dots are not
 * hidden here: Kubernetes mounts each file of a volume as a link to `..data/file`, and `..data` as one to `..2026_11_28_12_00_00.123`.
 *
 * @param names Those below the root, without symbolic links.
 * @param shown Hidden names that may be sent.
 */
export function leadsToHidden(names: readonly string[], shown: readonly string[]): boolean {
  return names.some((name) => /^\.(?!\.)/.test(name) && !shown.includes(name));
}

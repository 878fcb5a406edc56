/**
 * Removes `node` from node_modules/.bin. The packages with the tests' other Node versions put it there; npm looks there
 * first, and would run every script on one of those. `test/runtimes`, which has them, runs this after `npm ci`: for a
 * script of the published package.json, npm would warn at each installation.
 */
import { rmSync } from "node:fs";

for (const name of ["node", "node.cmd", "node.ps1"]) {
  rmSync(new URL(`../node_modules/.bin/${name}`, import.meta.url), { force: true });
}

/**
 * Takes the command `node` out of node_modules/.bin, where the packages that bring the tests their other Nodes put it: npm
 * looks there first, and every script would run on one of those and not on the Node it was started with.
 */
import { rmSync } from "node:fs";

for (const name of ["node", "node.cmd", "node.ps1"]) {
  rmSync(new URL(`../node_modules/.bin/${name}`, import.meta.url), { force: true });
}

/** Programs that a test runs on each Node. The versions differ in which connections they hand over, and how. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServeOptions } from "usher-http/node";
import { afterAll } from "vitest";
import { bundle, folder } from "../../conformance/targets/bundle.ts";
import { runtimes } from "../../support/runtimes.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";
import { rows } from "../../support/wide.ts";

export type NodeName = "node-oldest" | "node-22" | "node-24" | "node-newest";
export const nodes: readonly NodeName[] = rows<NodeName>(["node-oldest", "node-newest"], ["node-22", "node-24"]);

/** Starts a program on a Node. It is bundled once for all of a test file, from `dist`. */
export type StartOn<Options> = (node: NodeName, options: Options) => Promise<SpawnedServer>;

export function programOf<Options extends ServeOptions>(program: URL): StartOn<Options> {
  const files = folder();
  const file = join(files.path, "program.mjs");
  let written: Promise<void> | undefined;
  afterAll(files.remove);
  return async (node, options) => {
    written ??= bundle(program).then((code) => writeFileSync(file, code));
    await written;
    return SpawnedServer.start([runtimes[node]()], file, options);
  };
}

/** A package registry on this machine, which has this package as npm would publish it, and what it depends on. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { serverOfFile } from "../support/http-server.ts";
import { root } from "./packed.ts";
import { tarballOf } from "./tarball.ts";

interface Published {
  readonly manifest: { readonly name: string; readonly version: string };
  readonly tarball: Buffer;
}

/** Serves the package of each of these folders until the test file ends. Returns its URL. */
export async function startRegistry(...folders: readonly string[]): Promise<string> {
  const packages = new Map(folders.map(published).map((one) => [one.manifest.name, one]));
  const { url } = await serverOfFile((request, response) => answer(request, response, packages));
  return `${url}/`;
}

function published(folder: string): Published {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Published["manifest"];
  return { manifest, tarball: readFileSync(tarballOf(folder).file) };
}

/** As the registry's own interface has it: `/<name>` says what there is, and where each tarball is. */
function answer(
  { url = "", headers }: IncomingMessage,
  response: ServerResponse,
  packages: ReadonlyMap<string, Published>,
): void {
  const path = decodeURIComponent(url.slice(1));
  const found = packages.get(path.replace(/\.tgz$/, ""));
  if (found === undefined) {
    response.writeHead(404, { "content-type": "application/json" }).end("{}");
    return;
  }
  const { manifest, tarball } = found;
  if (path.endsWith(".tgz")) {
    response.end(tarball);
    return;
  }
  const { name, version } = manifest;
  const dist = {
    tarball: `http://${headers.host}/${encodeURIComponent(name)}.tgz`,
    integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}`,
  };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } }),
  );
}

/** What `usher-http` depends on, as it is installed here. */
export const dependencies: readonly string[] = ["valibot", "@opentelemetry/api"].map((name) =>
  join(root, "node_modules", name),
);

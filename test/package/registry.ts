/** A package registry on this machine, which has this package as npm would publish it, and what it depends on. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { root } from "./packed.ts";
import { tarballOf } from "./tarball.ts";

export interface Registry {
  readonly url: string;
  close(): void;
}

interface Published {
  readonly manifest: { readonly name: string; readonly version: string };
  readonly tarball: Buffer;
}

/** Serves the package of each of these folders. */
export async function startRegistry(...folders: readonly string[]): Promise<Registry> {
  const packages = new Map(folders.map(published).map((one) => [one.manifest.name, one]));
  const server = createServer((request, response) => answer(request, response, packages));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
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

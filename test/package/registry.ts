/** A package registry on this machine, which has this package as npm would publish it, and what it depends on. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { basename, dirname, join } from "node:path";
import { serverOfFile } from "../support/http-server.ts";
import { root } from "./packed.ts";
import { tarballOf } from "./tarball.ts";

interface Published {
  readonly manifest: { readonly name: string; readonly version: string };
  readonly tarball: Buffer;
}

/** Serves the package of a folder, and what it depends on, until the test file ends. Returns its URL. */
export async function startRegistry(folder: string, dependencies: readonly string[] = []): Promise<string> {
  const all = [
    published(folder, readFileSync(tarballOf(folder).file)),
    ...dependencies.map((installed) => published(installed, asInstalled(installed))),
  ];
  const packages = new Map(all.map((one) => [one.manifest.name, one]));
  const { url } = await serverOfFile((request, response) => answer(request, response, packages));
  return `${url}/`;
}

function published(folder: string, tarball: Buffer): Published {
  return { manifest: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Published["manifest"], tarball };
}

/** A tarball of what npm unpacked before: to choose its files again takes npm a second of processor time. */
function asInstalled(folder: string): Buffer {
  return execFileSync("tar", ["-czf", "-", "-C", dirname(folder), basename(folder)], { maxBuffer: 2 ** 26 });
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

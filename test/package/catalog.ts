/** A package registry that knows which versions there are, and has no tarballs: npm resolves versions by it. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { serverOfFile } from "../support/http-server.ts";
import { root } from "./packed.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: { readonly [name: string]: string };
}

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

/** The packages of a scope in a folder of modules, also those that are nested in them. */
function scoped(modules: string, scope: string): readonly Manifest[] {
  const folder = join(modules, scope);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => [
    manifestIn(join(folder, name)),
    ...scoped(join(folder, name, "node_modules"), scope),
  ]);
}

/** A manifest, and those of all that it depends on. */
function withDependencies(name: string, known: ReadonlyMap<string, unknown>): readonly Manifest[] {
  const manifest = manifestIn(join(root, "node_modules", name));
  const others = Object.keys(manifest.dependencies ?? {}).filter((other) => !known.has(other));
  return [manifest, ...others.flatMap((other) => withDependencies(other, known))];
}

/**
 * Serves the manifests of this package and of both generations of OpenTelemetry, as they are installed here, until the test file
 * ends. Returns its URL.
 */
export async function startCatalog(): Promise<string> {
  const versions = new Map<string, Map<string, Manifest>>();
  const add = (manifest: Manifest): void => {
    const { name, version } = manifest;
    versions.set(name, (versions.get(name) ?? new Map<string, Manifest>()).set(version, manifest));
  };
  const generations = ["node_modules", "test/telemetry/newest/node_modules"].map((modules) => join(root, modules));
  for (const manifest of generations.flatMap((modules) => scoped(modules, "@opentelemetry"))) add(manifest);
  add(manifestIn(root));
  for (const name of needed(versions)) for (const manifest of withDependencies(name, versions)) add(manifest);
  const catalog = await serverOfFile(({ url = "" }, response) => {
    const found = versions.get(decodeURIComponent(url.slice(1)));
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(found === undefined ? {} : answered([...found.values()])));
  });
  return `${catalog.url}/`;
}

/** The names of what the packages depend on and peers that npm installs, and that are not among them. */
function needed(versions: ReadonlyMap<string, ReadonlyMap<string, Manifest>>): readonly string[] {
  const all = [...versions.values()].flatMap((of) => [...of.values()]);
  const names = all.flatMap(({ dependencies = {} }) => Object.keys(dependencies));
  return [...new Set([...names, "valibot"])].filter((name) => !versions.has(name));
}

/** As the registry's interface has it. */
function answered(manifests: readonly Manifest[]): object {
  const [newest] = manifests.toSorted((a, b) => b.version.localeCompare(a.version, "en", { numeric: true }));
  const of = ({ name, version }: Manifest) => ({ tarball: `http://127.0.0.1/${name}-${version}.tgz` });
  const versions = manifests.map((manifest) => [manifest.version, { ...manifest, dist: of(manifest) }] as const);
  return {
    name: newest?.name,
    "dist-tags": { latest: newest?.version },
    versions: Object.fromEntries(versions),
  };
}

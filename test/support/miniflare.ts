/** Of Miniflare, what is used of it: its own types bring those of Workers with them, which clash with Node's. */
import type { Readable } from "node:stream";
import { build } from "esbuild";

export interface Miniflare {
  readonly ready: Promise<URL>;
  dispatchFetch(url: string, init?: RequestInit): Promise<Response>;
  dispose(): Promise<void>;
}

export interface MiniflareOptions {
  readonly modules: true;
  readonly script: string;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly bindings?: { readonly [name: string]: string };
  readonly durableObjects?: {
    readonly [binding: string]: { readonly className: string; readonly useSQLite: boolean };
  };
  /** The folder in which the storage of Durable Objects outlives it. */
  readonly durableObjectsPersist?: string;
  /** Static assets, as `[assets]` of `wrangler.toml`. */
  readonly assets?: {
    readonly directory: string;
    readonly binding: string;
    readonly routerConfig?: { readonly invoke_user_worker_ahead_of_assets: boolean; readonly has_user_worker: boolean };
    readonly assetConfig?: { readonly html_handling?: string; readonly not_found_handling?: string };
  };
  /** Where it listens: an address of 127.0.0.1 and any port unless given. */
  readonly host?: string;
  readonly port?: number;
  /** Gets what the Worker prints; without it the console does. */
  readonly handleRuntimeStdio?: (stdout: Readable, stderr: Readable) => void;
}

// A name in a variable keeps the compiler from its types.
const name: string = "miniflare";
const loaded = (await import(name)) as { readonly Miniflare: new (options: MiniflareOptions) => Miniflare };

export const Miniflare: new (options: MiniflareOptions) => Miniflare = loaded.Miniflare;

/**
 * A Worker of a program, with the package as it was built.
 *
 * @param contents The program's text; its imports are resolved from `folder`.
 */
export async function workerOf(
  contents: string,
  folder: string,
  options: Partial<MiniflareOptions> = {},
): Promise<Miniflare> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    format: "esm",
    platform: "neutral",
    conditions: ["workerd"],
    external: ["node:*", "cloudflare:*"],
    // Without it esbuild reads tsconfig.json, whose paths lead to the source.
    tsconfigRaw: {},
    write: false,
    logLevel: "error",
  });
  return new Miniflare({
    modules: true,
    script: outputFiles[0]?.text ?? "",
    compatibilityDate: "2026-01-01",
    compatibilityFlags: ["nodejs_compat"],
    ...options,
  });
}

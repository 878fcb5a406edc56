/** Of Miniflare, what is used of it: its own types bring those of Workers with them, which clash with Node's. */
import type { Readable } from "node:stream";

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
  /** Static assets, as `[assets]` of `wrangler.toml`. */
  readonly assets?: {
    readonly directory: string;
    readonly binding: string;
    readonly routerConfig?: { readonly invoke_user_worker_ahead_of_assets: boolean; readonly has_user_worker: boolean };
    readonly assetConfig?: { readonly html_handling?: string; readonly not_found_handling?: string };
  };
  /** Gets what the Worker prints; without it the console does. */
  readonly handleRuntimeStdio?: (stdout: Readable, stderr: Readable) => void;
}

// A name in a variable keeps the compiler from its types.
const name: string = "miniflare";
const loaded = (await import(name)) as { readonly Miniflare: new (options: MiniflareOptions) => Miniflare };

export const Miniflare: new (options: MiniflareOptions) => Miniflare = loaded.Miniflare;

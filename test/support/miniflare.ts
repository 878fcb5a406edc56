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
  /** Gets what the Worker prints; without it the console does. */
  readonly handleRuntimeStdio?: (stdout: Readable, stderr: Readable) => void;
}

// A name in a variable keeps the compiler from its types.
const name: string = "miniflare";
const loaded = (await import(name)) as { readonly Miniflare: new (options: MiniflareOptions) => Miniflare };

export const Miniflare: new (options: MiniflareOptions) => Miniflare = loaded.Miniflare;

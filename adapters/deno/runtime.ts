// Of Deno's own types, what is used of them: they are to be had from Deno alone, and this is checked without it.

export interface Address {
  readonly transport: string;
  readonly hostname?: string;
  readonly port?: number;
}

export interface ServeInfo {
  /** Raises once the request is answered. */
  readonly remoteAddr: Address;
}

export interface DenoServer {
  readonly addr: Address;
  /** Refuses new connections, closes those with no request on them, and resolves once the last has gone. */
  shutdown(): Promise<void>;
  /** Lets the process end while it listens. */
  unref(): void;
}

export interface DenoServeOptions {
  readonly hostname?: string;
  readonly port?: number;
  readonly path?: string;
  readonly onListen: () => void;
  readonly onError: (error: unknown) => Response;
}

export type Signal = "SIGTERM" | "SIGINT";

export interface DenoRuntime {
  readonly build: { readonly os: string };
  readonly stderr: { isTerminal(): boolean; writeSync(bytes: Uint8Array): number };
  serve(
    options: DenoServeOptions,
    handler: (request: Request, info: ServeInfo) => Response | Promise<Response>,
  ): DenoServer;
  addSignalListener(signal: Signal, listener: () => void): void;
  removeSignalListener(signal: Signal, listener: () => void): void;
  connect(where: { readonly transport: "unix"; readonly path: string }): Promise<{ close(): void }>;
  lstatSync(path: string): { readonly isSocket: boolean | null };
  removeSync(path: string): void;
}

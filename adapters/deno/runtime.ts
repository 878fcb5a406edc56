// Of Deno's own types, what is used of them: they are to be had from Deno alone, and this is checked without it.

export interface DenoAddress {
  readonly transport: string;
  readonly hostname?: string;
  readonly port?: number;
}

export type DenoHandler = (request: Request, info: ServeInfo) => Response | Promise<Response>;

export interface ServeInfo {
  /** Settles once the answer was taken whole, or will not be. */
  readonly completed: Promise<void>;
  /** Raises once the request is answered. */
  readonly remoteAddr: DenoAddress;
}

export interface DenoServer {
  readonly addr: DenoAddress;
  /** Refuses new connections, closes those with no request on them, and resolves once the last has gone. */
  shutdown(): Promise<void>;
  /** Settles once it is over, whatever ended it. */
  readonly finished: Promise<void>;
  unref(): void;
}

/** The platform's own kind of socket, as far as it is used. */
export interface DenoSocket {
  binaryType: string;
  /** 1 while it is open. */
  readonly readyState: number;
  /** Bytes that were sent and that the system has no room for yet. */
  readonly bufferedAmount: number;
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: string | ArrayBuffer }) => void): void;
  addEventListener(type: "error", listener: (event: { readonly message: string }) => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void;
  send(data: string | Uint8Array): void;
  close(code?: number, reason?: string): void;
}

export interface DenoServeOptions {
  readonly hostname?: string;
  readonly port?: number;
  readonly path?: string;
  readonly onListen: () => void;
  readonly onError: (error: unknown) => Response;
  /** Ends the server and every connection at once. */
  readonly signal: AbortSignal;
}

export type Signal = "SIGTERM" | "SIGINT";

export interface DenoRuntime {
  readonly build: { readonly os: string };
  readonly stderr: { isTerminal(): boolean; writeSync(bytes: Uint8Array): number };
  serve(options: DenoServeOptions, handler: DenoHandler): DenoServer;
  exit(): void;
  /**
   * The answer must be what its handler returns: for any other, Deno stops to listen. Quiet for half of `idleTimeout`
   * seconds, the socket is pinged, and for as long again, it is lost.
   */
  upgradeWebSocket(
    request: Request,
    options: { readonly idleTimeout: number },
  ): { readonly socket: DenoSocket; readonly response: Response };
  addSignalListener(signal: Signal, listener: () => void): void;
  removeSignalListener(signal: Signal, listener: () => void): void;
  connect(where: { readonly transport: "unix"; readonly path: string }): Promise<{ close(): void }>;
  lstatSync(path: string): { readonly isSocket: boolean | null };
  removeSync(path: string): void;
}

// The used part of Deno's types, which only Deno provides; this project is checked without Deno.

export interface DenoAddress {
  readonly transport: string;
  readonly hostname?: string;
  readonly port?: number;
}

export type DenoHandler = (request: Request, info: ServeInfo) => Response | Promise<Response>;

export interface ServeInfo {
  /** Settles once the response was read whole, or cannot be. */
  readonly completed: Promise<void>;
  /** Throws once the request is answered. */
  readonly remoteAddr: DenoAddress;
}

export interface DenoServer {
  readonly addr: DenoAddress;
  /** Refuses new connections, closes idle ones, and resolves once the last is closed. */
  shutdown(): Promise<void>;
  /** Settles once the server has ended. */
  readonly finished: Promise<void>;
  unref(): void;
}

/** The used part of the platform's `WebSocket`. */
export interface DenoSocket {
  binaryType: string;
  /** 1 while it is open. */
  readonly readyState: number;
  /** Sent bytes that the system has not accepted yet. */
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
  /** On Linux alone; ignored elsewhere. */
  readonly reusePort?: boolean;
  readonly path?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly onListen: () => void;
  readonly onError: (error: unknown) => Response;
  /** Ends the server and every connection at once. */
  readonly signal: AbortSignal;
}

export type Signal = "SIGTERM" | "SIGINT";

export interface DenoRuntime {
  readonly build: { readonly os: string };
  /** Whether `NO_COLOR` is set; without the permission to read it, false. */
  readonly noColor: boolean;
  readonly stderr: { isTerminal(): boolean; writeSync(bytes: Uint8Array): number };
  serve(options: DenoServeOptions, handler: DenoHandler): DenoServer;
  exit(): void;
  /**
   * The handler must return this response: after any other, Deno stops listening. After half of `idleTimeout` seconds
   * without traffic the socket is pinged, and after the other half it is closed.
   */
  upgradeWebSocket(
    request: Request,
    options: { readonly idleTimeout: number },
  ): { readonly socket: DenoSocket; readonly response: Response };
  addSignalListener(signal: Signal, listener: () => void): void;
  removeSignalListener(signal: Signal, listener: () => void): void;
  connect(where: { readonly transport: "unix"; readonly path: string }): Promise<{ close(): void }>;
  lstatSync(path: string): {
    readonly isSocket: boolean | null;
    readonly ino: number | null;
    readonly mtime: Date | null;
  };
  removeSync(path: string): void;
}

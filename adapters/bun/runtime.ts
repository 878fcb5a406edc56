// Of Bun's own types, what is used of them: `@types/bun` would put Bun's globals into every file.

export interface BunServer {
  /** Undefined on a Unix socket. */
  readonly port: number | undefined;
  /** Requests whose answer is not written to its end. */
  readonly pendingRequests: number;
  /** Null on a Unix socket, and once the connection is gone. */
  requestIP(request: Request): { readonly address: string } | null;
  /** Seconds after which the connection of a request is closed for want of traffic; 0 for never. It stays so. */
  timeout(request: Request, seconds: number): void;
  /** Refuses new connections and closes those with no request on them; with `true`, closes every one. */
  stop(closeActiveConnections?: boolean): Promise<void>;
}

export interface BunServeOptions {
  readonly hostname?: string;
  readonly port?: number;
  readonly unix?: string;
  readonly idleTimeout: number;
  readonly maxRequestBodySize: number;
  readonly development: boolean;
  readonly fetch: (request: Request, server: BunServer) => Response | Promise<Response>;
  readonly error: (error: unknown) => Response;
}

export interface BunRuntime {
  serve(options: BunServeOptions): BunServer;
}

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
  /** Answers with a 101 and these headers; false where the connection is gone. `open` is called before it returns. */
  upgrade(
    request: Request,
    options: { readonly headers: readonly (readonly [string, string])[]; readonly data: unknown },
  ): boolean;
  /** Refuses new connections and closes those with no request on them; with `true`, closes every one. */
  stop(closeActiveConnections?: boolean): Promise<void>;
}

export interface BunSocket<Data> {
  readonly data: Data;
  /** 1 while it is open. */
  readonly readyState: number;
  /** Bytes that were sent and that the system has no room for yet. */
  getBufferedAmount(): number;
  /** Copies what it cannot send at once. */
  send(data: string | Uint8Array): number;
  ping(): number;
  /** Ends the connection too, and calls `close` before it returns. */
  close(code: number, reason: string): void;
  terminate(): void;
  pause(): void;
  resume(): void;
}

/** Sizes are bytes, times whole seconds. */
export interface BunSocketHandlers<Data> {
  readonly maxPayloadLength: number;
  readonly idleTimeout: number;
  readonly sendPings: boolean;
  readonly backpressureLimit: number;
  readonly closeOnBackpressureLimit: boolean;
  readonly perMessageDeflate: boolean;
  open(socket: BunSocket<Data>): void;
  message(socket: BunSocket<Data>, message: string | Uint8Array): void;
  ping(socket: BunSocket<Data>): void;
  pong(socket: BunSocket<Data>): void;
  drain(socket: BunSocket<Data>): void;
  close(socket: BunSocket<Data>, code: number, reason: string): void;
}

export interface BunServeOptions {
  readonly hostname?: string;
  readonly port?: number;
  readonly unix?: string;
  readonly idleTimeout: number;
  readonly maxRequestBodySize: number;
  readonly development: boolean;
  readonly websocket?: BunSocketHandlers<never>;
  /** Answers nothing where the connection became a socket. */
  readonly fetch: (request: Request, server: BunServer) => Response | undefined | Promise<Response | undefined>;
  readonly error: (error: unknown) => Response;
}

export interface BunRuntime {
  serve(options: BunServeOptions): BunServer;
}

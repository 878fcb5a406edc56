import type { Exchange } from "../../src/app/exchange.ts";
import { announcesBody } from "../../src/app/fetch.ts";
import { abortingWith } from "../../src/app/gone.ts";
import { bodyOf } from "../../src/app/timed-body.ts";
import type { Reading, TimedBody } from "../../src/app/timed-body.ts";
import type { BunServer } from "./runtime.ts";

/** What an exchange needs to know of its listener. */
export interface Listening extends Reading {
  /** The path of the Unix socket it listens on. */
  readonly socket: string | undefined;
}

/** An exchange over a request of `Bun.serve`, which shows a repeated header as one joined line. */
export class BunExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly request: Request;
  readonly server: BunServer;
  readonly listener = "Bun.serve";
  readonly #listening: Listening;
  /** Null once it is known that there is none. */
  #body: TimedBody | undefined | null = undefined;
  #controller: AbortController | undefined = undefined;

  constructor(request: Request, target: string, server: BunServer, listening: Listening) {
    const { method } = request;
    this.method = method;
    this.target = target;
    this.request = request;
    this.server = server;
    this.#listening = listening;
  }

  /** Of HTTP/1.0 too: Bun does not tell the version. */
  get canUpgrade(): boolean {
    return this.method === "GET" && !announcesBody(this.request);
  }

  get peer(): string {
    const { socket } = this.#listening;
    if (socket !== undefined) return `unix:${socket}`;
    const address = this.server.requestIP(this.request)?.address ?? "";
    // An IPv4 peer of a socket that takes both families.
    return address.startsWith("::ffff:") ? address.slice(7) : address;
  }

  /** Bun tells it of itself, but to `HEAD`. */
  get date(): string {
    return this.method === "HEAD" ? this.#listening.sweep.date : "";
  }

  get body(): TimedBody | undefined {
    if (this.#body === undefined) this.#body = bodyOf(this.request, this.method, this.#listening) ?? null;
    return this.#body ?? undefined;
  }

  get gone(): AbortSignal {
    return (this.#controller ??= abortingWith(this.request.signal)).signal;
  }

  /** The connection has ended; of an end that this side made, Bun tells nothing. */
  left(): void {
    this.#controller?.abort();
  }

  lines(name: string): readonly string[] {
    const value = this.request.headers.get(name);
    return value === null ? nothing : [value];
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return this.request.headers;
  }

  byteLength(text: string): number {
    return Buffer.byteLength(text);
  }

  decode(bytes: Uint8Array): string | undefined {
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  }
}

const nothing: readonly string[] = [];
const decoder: TextDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Exchange } from "../../src/app/exchange.ts";
import { IncomingBody } from "./incoming-body.ts";
import type { Sweep } from "../../src/app/sweep.ts";

/**
 * An exchange over `node:http`. Headers are read from the raw lines: Node's own parse of them costs a request more
 * than all of ours, and drops or joins repeated ones.
 */
export class NodeExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly framing: Framing;
  readonly #sweep: Sweep;
  /** The client waits for `100 Continue` before it sends the body. */
  readonly #expectsContinue: boolean;
  #body: IncomingBody | undefined = undefined;

  constructor(request: IncomingMessage, response: ServerResponse, sweep: Sweep, expectsContinue: boolean) {
    this.method = request.method as string;
    this.target = request.url as string;
    this.request = request;
    this.response = response;
    this.framing = framingOf(request);
    this.#sweep = sweep;
    this.#expectsContinue = expectsContinue;
  }

  get peer(): string {
    const address = this.request.socket.remoteAddress ?? "";
    // An IPv4 peer of a socket that takes both families.
    return address.startsWith("::ffff:") ? address.slice(7) : address;
  }

  get body(): IncomingBody | undefined {
    if (this.#body !== undefined) return this.#body;
    const { framing } = this;
    if (framing === 0) return undefined;
    const length = typeof framing === "number" ? framing : undefined;
    const sendContinue = this.#expectsContinue ? () => this.response.writeContinue() : undefined;
    this.#body = new IncomingBody(this.request, length, this.#sweep, sendContinue);
    return this.#body;
  }

  get gone(): AbortSignal {
    const controller = new AbortController();
    const response = this.response;
    const { socket } = this.request;
    // Node calls an answer finished, too, whose connection is gone from under it.
    let finished = response.writableFinished && !socket.destroyed;
    response.once("finish", () => (finished = !socket.destroyed));
    response.once("close", () => {
      if (!finished) controller.abort();
    });
    if (response.closed && !finished) controller.abort();
    return controller.signal;
  }

  lines(name: string): readonly string[] {
    return linesOf(this.request, name);
  }

  *headers(): Iterable<readonly [name: string, value: string]> {
    const { rawHeaders } = this.request;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      yield [(rawHeaders[i] as string).toLowerCase(), rawHeaders[i + 1] as string];
    }
  }

  byteLength(text: string): number {
    return Buffer.byteLength(text);
  }

  decode(bytes: Uint8Array): string | undefined {
    if (!isUtf8(bytes)) return undefined;
    const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return buffer.toString();
  }
}

const nothing: readonly string[] = [];

function linesOf({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  let lines: string[] | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i] as string;
    if (given.length === name.length && given.toLowerCase() === name) (lines ??= []).push(rawHeaders[i + 1] as string);
  }
  return lines ?? nothing;
}

/**
 * How a body's end is told: by its length, 0 where there is none; by its chunks; by chunks under a coding that is not
 * served; or by nothing that a server could know.
 */
export type Framing = number | "chunked" | "coded" | "unknown";

/** How a request's body is framed (RFC 9112 §6.3). That no two lines of it disagree, Node's parser saw to. */
export function framingOf({ rawHeaders }: IncomingMessage): Framing {
  let framing: Framing = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const { length } = rawHeaders[i] as string;
    // By their lengths first: this is asked of every request, and most have neither.
    if (length !== 14 && length !== 17) continue;
    const name = (rawHeaders[i] as string).toLowerCase();
    if (name === "content-length") framing = Number(rawHeaders[i + 1]);
    else if (name === "transfer-encoding") framing = framingBy(rawHeaders[i + 1] as string, framing !== 0);
  }
  return framing;
}

function framingBy(codings: string, isUnderOthers: boolean): Framing {
  const listed = codings.toLowerCase().split(",");
  if (listed.at(-1)?.trim() !== "chunked") return "unknown";
  return listed.length > 1 || isUnderOthers ? "coded" : "chunked";
}

import type { Exchange } from "../../src/app/exchange.ts";
import { FetchExchange } from "../../src/app/fetch.ts";
import { guarded } from "../../src/logging/last-net.ts";
import { CountedBody } from "./counted-body.ts";
import type { Node } from "./node.ts";

/**
 * An exchange over the adapter's request, which is right about the body alone: its URL is `Host` and target written one
 * behind the other, of repeated headers Node has dropped some before, and its signal is deaf once `AbortSignal.any` has
 * seen it. The rest comes from Node.
 */
export class NodeExchange extends FetchExchange implements Exchange {
  override readonly target: string;
  readonly listener = "@whatwg-node/server";
  declare readonly body: CountedBody | undefined;
  readonly node: Node;
  #controller: AbortController | undefined = undefined;

  constructor(request: Request, node: Node) {
    const { socket, originalUrl, url = "/" } = node.req;
    const address = socket.remoteAddress ?? "";
    // An IPv4 peer of a socket that takes both families.
    super(request, address.startsWith("::ffff:") ? address.slice(7) : address);
    this.target = originalUrl ?? url;
    this.body = this.body && new CountedBody(this.body);
    this.node = node;
  }

  override get gone(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    const { res } = this.node;
    const whenClosed = (): void => {
      if (!res.writableFinished) controller.abort();
    };
    if (res.closed) whenClosed();
    else res.once("close", guarded(res, whenClosed));
    return controller.signal;
  }

  override lines(name: string): readonly string[] {
    const lines: string[] = [];
    for (const [given, value] of this.headers()) if (given === name) lines.push(value);
    return lines;
  }

  override *headers(): Iterable<readonly [name: string, value: string]> {
    const { rawHeaders } = this.node.req;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = (rawHeaders[i] as string).toLowerCase();
      // HTTP/2 has its own name for the host, and names for what is no header.
      if (name === ":authority") yield ["host", rawHeaders[i + 1] as string];
      else if (!name.startsWith(":")) yield [name, rawHeaders[i + 1] as string];
    }
  }

  keepAlive(work: Promise<unknown>): void {
    const nothing = (): void => {};
    this.node.waitUntil?.(work.then(nothing, nothing));
  }
}

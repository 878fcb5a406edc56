/** An OpenTelemetry collector for traces: it decodes the posts that it receives, as OTLP's JSON is specified. */
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { endsWithTest } from "../support/ends.ts";

/** A span in OTLP's JSON. */
export interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly [type: string]: unknown } }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

export interface Post {
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly resource: readonly { readonly key: string; readonly value: unknown }[];
  readonly scope: string;
  readonly spans: readonly WireSpan[];
}

const listening: Collector[] = [];
endsWithTest(async () => {
  await Promise.all(listening.splice(0).map((collector) => collector.down()));
});

export class Collector {
  readonly posts: Post[] = [];
  /** The response to a post. */
  status = 200;
  /** Keeps posts waiting for their response until the test releases it. */
  #held: (() => void)[] | undefined = undefined;
  #server: Server | undefined = undefined;
  readonly #waiting: (() => void)[] = [];
  port = 0;

  static async up(): Promise<Collector> {
    const collector = new Collector();
    await collector.up();
    return collector;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The accepted spans: none of a post that it refused. */
  get spans(): readonly WireSpan[] {
    return this.posts.flatMap(({ spans }) => spans);
  }

  async up(): Promise<void> {
    this.#server = createServer((request, response) => void this.#take(request, response));
    await new Promise<void>((resolve) => this.#server?.listen(this.port, "127.0.0.1", resolve));
    this.port = (this.#server.address() as AddressInfo).port;
    listening.push(this);
  }

  async down(): Promise<void> {
    this.release();
    this.#server?.closeAllConnections();
    await new Promise<void>((resolve) => (this.#server?.listening ? this.#server.close(() => resolve()) : resolve()));
  }

  hold(): void {
    this.#held = [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const go of held) go();
  }

  /** Waits until this number of posts arrived. */
  async came(posts: number): Promise<void> {
    while (this.posts.length < posts) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const part of request) text += String(part);
    if (this.status !== 200) return void response.writeHead(this.status).end('{"message":"a secret of the collector"}');
    const { resourceSpans } = JSON.parse(text) as {
      readonly resourceSpans: readonly {
        readonly resource: { readonly attributes: Post["resource"] };
        readonly scopeSpans: readonly {
          readonly scope: { readonly name: string };
          readonly spans: readonly WireSpan[];
        }[];
      }[];
    };
    const [one] = resourceSpans;
    const [scope] = one?.scopeSpans ?? [];
    if (resourceSpans.length !== 1 || one?.scopeSpans.length !== 1 || scope === undefined) throw new Error(text);
    const { url, headers } = request;
    this.posts.push({ url, headers, resource: one.resource.attributes, scope: scope.scope.name, spans: scope.spans });
    for (const go of this.#waiting.splice(0)) go();
    if (this.#held !== undefined) await new Promise<void>((resolve) => this.#held?.push(resolve));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  }
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { internalRefusal } from "../../src/app/failure.ts";
import type { Sweep } from "../../src/app/sweep.ts";
import { noRoom, tooLarge } from "../../src/inputs/body-source.ts";
import type { BodyReceiver, BodySource } from "../../src/inputs/body-source.ts";
import { NodeExchange } from "./exchange.ts";
import type { Framing } from "./head.ts";

/** What servers, and what is mounted in them ahead of us, leave on a request. */
interface HostedRequest extends IncomingMessage {
  /** The target as it was sent, where a prefix was taken off it: Express, Connect. */
  readonly originalUrl?: unknown;
  /** The bytes of a body that was read: functions' hosts. */
  readonly rawBody?: unknown;
  /** What a body was read as; bytes, where Express' `raw` did. */
  readonly body?: unknown;
}

/** An exchange in another's server, which may have read the request before. */
export class MountedExchange extends NodeExchange {
  override readonly target: string;
  #body: BodySource | undefined = undefined;

  constructor(
    request: HostedRequest,
    response: ServerResponse,
    framing: Framing,
    sweep: Sweep,
    expectsContinue: boolean,
  ) {
    super(request, response, framing, sweep, expectsContinue);
    const { originalUrl } = request;
    this.target = typeof originalUrl === "string" ? originalUrl : (request.url as string);
  }

  override get listener(): string {
    return "a server that it is mounted in";
  }

  override get isOurs(): boolean {
    return false;
  }

  override get body(): BodySource | undefined {
    return (this.#body ??= this.#isTaken() ? readBefore(this.request) : this.incoming);
  }

  /** Whether what is mounted ahead has read it, or has it come as text, of which its bytes cannot be had again. */
  #isTaken(): boolean {
    const { readableDidRead, readableEncoding } = this.request;
    return readableDidRead || (readableEncoding ?? null) !== null;
  }
}

function readBefore(request: HostedRequest): BodySource {
  for (const bytes of [request.rawBody, request.body]) if (bytes instanceof Uint8Array) return new ReadBody(bytes);
  throw internalRefusal("its body was read by what is mounted ahead of the app, which left no bytes of it");
}

const mostInPart = 65_536;

/** A body that somebody else has read. */
class ReadBody implements BodySource {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get length(): number {
    return this.#bytes.byteLength;
  }

  read(): Promise<Uint8Array | undefined> {
    const part = this.#bytes.subarray(this.#at, this.#at + mostInPart);
    this.#at += part.byteLength;
    return Promise.resolve(part.byteLength === 0 ? undefined : part);
  }

  whole(limit: number, receiver: BodyReceiver): void {
    if (this.length > limit) receiver.done(tooLarge);
    else receiver.done(receiver.take(this.length) ? this.#bytes : noRoom);
  }
}

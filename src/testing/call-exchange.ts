import type { Exchange } from "../app/exchange.ts";
import { byteLength, decode } from "../codecs/utf8.ts";
import { noRoom, tooLarge } from "../inputs/body-source.ts";
import type { BodyReceiver, BodySource } from "../inputs/body-source.ts";
import type { EncodedBody } from "./call-body.ts";
import type { CallOptions } from "./call-options.ts";

/** An exchange of a test's own: header lines and target stand as they were given. */
export class CallExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly peer: string;
  readonly gone: AbortSignal;
  readonly now?: Date;
  readonly body: BodySource | undefined;
  readonly canUpgrade = true;
  readonly canTakeOver = true;
  /** The first thing the application did, while its answer was sent, that it had not declared. */
  undeclaredDeed: string | undefined = undefined;
  readonly #lines: readonly (readonly [name: string, value: string])[];

  constructor(method: string, target: string, options: CallOptions, body: EncodedBody | undefined) {
    this.method = method;
    this.target = target;
    this.peer = options.peer ?? "127.0.0.1";
    if (options.now !== undefined) this.now = options.now;
    this.gone = options.gone ?? new AbortController().signal;
    this.body = body === undefined ? undefined : new GivenBody(body.bytes);
    this.#lines = linesOf(options.headers ?? [], body);
  }

  undeclared(deed: string): void {
    this.undeclaredDeed ??= deed;
  }

  lines(name: string): readonly string[] {
    return this.#lines.filter(([given]) => given === name).map(([, value]) => value);
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return this.#lines;
  }

  byteLength(text: string): number {
    return byteLength(text);
  }

  decode(bytes: Uint8Array): string | undefined {
    return decode(bytes);
  }
}

function linesOf(
  given: NonNullable<CallOptions["headers"]>,
  body: EncodedBody | undefined,
): readonly (readonly [name: string, value: string])[] {
  const pairs = Symbol.iterator in given ? [...given] : Object.entries(given);
  const lines = pairs.map(([name, value]) => [name.toLowerCase(), value] as const);
  const has = (name: string): boolean => lines.some(([given]) => given === name);
  if (!has("host")) lines.push(["host", "localhost"]);
  if (body?.contentType !== undefined && !has("content-type")) lines.push(["content-type", body.contentType]);
  return lines;
}

class GivenBody implements BodySource {
  readonly length: number;
  readonly #bytes: Uint8Array;
  #read = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.length = bytes.byteLength;
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#read || this.length === 0) return undefined;
    this.#read = true;
    return this.#bytes;
  }

  whole(limit: number, receiver: BodyReceiver): void {
    // Later, as a body on a wire comes.
    queueMicrotask(() => {
      if (this.length > limit) receiver.done(tooLarge);
      else receiver.done(receiver.take(this.length) ? this.#bytes : noRoom);
    });
  }
}

import { gather, isFailure } from "../../src/inputs/body-source.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../../src/inputs/body-source.ts";

/** A body, and how much of it was read. */
export class CountedBody implements BodySource {
  received = 0;
  readonly #body: BodySource;

  constructor(body: BodySource) {
    this.#body = body;
  }

  get length(): number | undefined {
    return this.#body.length;
  }

  async read(): Promise<Uint8Array | BodyFailure | undefined> {
    const read = await this.#body.read();
    if (read !== undefined && !isFailure(read)) this.received += read.byteLength;
    return read;
  }

  whole(limit: number, receiver: BodyReceiver): void {
    gather(() => this.read(), limit, receiver);
  }
}

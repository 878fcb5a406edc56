import { Duplex } from "node:stream";

/** A connection in memory whose client is this program, so that only the server's work is counted. */
export class MemorySocket extends Duplex {
  readonly remoteAddress = "127.0.0.1";
  #length = 0;
  #received = 0;
  #onAnswer = (): void => {};

  /** Sends one request; calls back when the response is complete. Every response has the length of the first. */
  ask(bytes: Buffer, onAnswer: () => void): void {
    this.#onAnswer = onAnswer;
    this.push(bytes);
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    done();
    this.#receive([chunk]);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    done();
    this.#receive(chunks.map(({ chunk }) => chunk));
  }

  #receive(parts: readonly Buffer[]): void {
    if (this.#length === 0) this.#length = lengthOf(Buffer.concat(parts));
    for (const { length } of parts) this.#received += length;
    if (this.#received < this.#length) return;
    this.#received = 0;
    this.#onAnswer();
  }

  // The methods that node:http calls on a network socket.
  setTimeout(): this {
    return this;
  }
  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}
}

/** The length of a whole response, computed from its head. */
function lengthOf(response: Buffer): number {
  const text = response.toString("latin1");
  const end = text.indexOf("\r\n\r\n") + 4;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, end))?.[1];
  if (!/^HTTP\/1.1 20[01] /.test(text) || length === undefined) throw new Error(`no answer: ${text}`);
  return end + Number(length);
}

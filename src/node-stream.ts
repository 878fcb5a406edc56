/** A stream of Node's, as of `createReadStream`: an async iterable that holds a file or a connection before anything is read of it. */
interface NodeReadable extends AsyncIterable<unknown> {
  readonly readableDidRead: boolean;
  readonly readable: boolean;
  destroy(): unknown;
  on(event: "error" | "data", listener: () => void): unknown;
  off(event: "error", listener: () => void): unknown;
}

/** Whether a value is a stream of Node's. It gives any number of iterators but can be read once. */
export function isNodeStream(value: object): value is NodeReadable {
  return "readableDidRead" in value && "destroy" in value && typeof value.destroy === "function";
}

/** An error that comes while it is not read, as of a file that is not there, would end the process. Its reader gets it, too. */
export function awaitErrors(value: object): void {
  if (!isNodeStream(value)) return;
  value.off("error", noop);
  value.on("error", noop);
}

/** Closes a stream that will not be read: one of Node's, or a `ReadableStream`. Does nothing for any other value. */
export function letGo(value: object): void {
  if (value instanceof ReadableStream) value.cancel().catch(noop);
  if (!isNodeStream(value)) return;
  awaitErrors(value);
  value.destroy();
}

/** Reads the end of a stream of Node's that has no bytes. It is closed if it has some: they may be without an end. */
export function readEnd(value: object): void {
  if (!isNodeStream(value)) return;
  awaitErrors(value);
  value.on("data", () => value.destroy());
}

/** The iterator of an async iterable, whose `return` closes a stream also while a part is waited for. */
export function iteratorOf<A>(iterable: AsyncIterable<A>): AsyncIterator<A> {
  if (iterable instanceof ReadableStream) return readerOf(iterable as ReadableStream<A>);
  const iterator = iterable[Symbol.asyncIterator]();
  return isNodeStream(iterable) ? new NodeIterator(iterator, iterable) : iterator;
}

/** A `ReadableStream` by a reader: its own iterator cannot be ended during a pending `next`, and not every runtime has one. */
function readerOf<A>(stream: ReadableStream<A>): AsyncIterator<A> {
  const reader = stream.getReader();
  return {
    next: () => reader.read() as Promise<IteratorResult<A>>,
    return: async () => {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}

/** Node's own iterator closes nothing before the first part is asked for, nor while one is waited for. */
class NodeIterator<A> implements AsyncIterator<A> {
  readonly #iterator: AsyncIterator<A>;
  readonly #stream: NodeReadable;

  constructor(iterator: AsyncIterator<A>, stream: NodeReadable) {
    awaitErrors(stream);
    this.#iterator = iterator;
    this.#stream = stream;
  }

  next(): Promise<IteratorResult<A>> {
    return this.#iterator.next();
  }

  async return(): Promise<IteratorResult<A>> {
    this.#stream.destroy();
    await this.#iterator.return?.();
    return { done: true, value: undefined };
  }
}

function noop(): void {}

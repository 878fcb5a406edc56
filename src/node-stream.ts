/** A stream of Node's, as of `createReadStream`: an async iterable that holds a file or a connection before anything is read of it. */
interface NodeReadable extends AsyncIterable<unknown> {
  readonly readableDidRead: boolean;
  readonly readable: boolean;
  destroy(): unknown;
  on(event: "error", listener: () => void): unknown;
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

/** Closes what a stream of Node's holds that will not be read. Does nothing for any other value. */
export function letGo(value: object): void {
  if (!isNodeStream(value)) return;
  awaitErrors(value);
  value.destroy();
}

/** The iterator of an async iterable, whose `return` also closes a stream of Node's. */
export function iteratorOf<A>(iterable: AsyncIterable<A>): AsyncIterator<A> {
  const iterator = iterable[Symbol.asyncIterator]();
  return isNodeStream(iterable) ? new NodeIterator(iterator, iterable) : iterator;
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

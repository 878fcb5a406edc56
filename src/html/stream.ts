import { shouldYield, yieldToEventLoop } from "../async.ts";
import { inBackground } from "../logging/raised.ts";
import { iteratorOf, letGo } from "../node-stream.ts";
import { InvalidAnswerError } from "../refusals.ts";

/** HTML, and values that are not ready yet, in the order of the page. */
export type PageContent = string | readonly (string | PendingValue)[];

/** A promise or an async iterable. */
export interface PendingValue {
  readonly promise?: Promise<unknown>;
  readonly iterable?: AsyncIterable<unknown>;
  /** The content of a value that has become ready. Throws for one that cannot be written. */
  readonly contentOf: (value: unknown) => PageContent;
}

/** The parts of a page, or of a value in it, of which those before `next` are written. */
interface OpenParts {
  readonly parts: Exclude<PageContent, string>;
  next: number;
}

interface OpenIterator {
  readonly iterator: AsyncIterator<unknown>;
  readonly contentOf: PendingValue["contentOf"];
}

type Chunk = IteratorResult<Uint8Array, undefined>;

/** Characters of a chunk that is sent although the next part is ready. */
const fullChunk = 16_384;
/** Microtasks in which a part counts as ready: an async generator needs some of them for a value that it has. */
const readyWithin = 12;

const encoder = /* @__PURE__ */ new TextEncoder();
// A generator can be read once, so it can be in one page only.
const begun = /* @__PURE__ */ new WeakSet<object>();
const done: Chunk = { done: true, value: undefined };

/**
 * The body of a page, in order, as it becomes ready. It is read by chunks, and reads no further than it is read. A part that
 * is not ready within some microtasks ends a chunk.
 *
 * No generator: its `return` would wait for a pending part.
 */
export class PageStream implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array, undefined> {
  /** The innermost last. */
  readonly #sources: (OpenParts | OpenIterator)[];
  #text = "";
  #isOver = false;
  /** What is waited for, while a chunk before it is sent. */
  #step: Promise<void> | undefined = undefined;
  /** The chunk that was made before the head was sent. */
  #first: Promise<Chunk> | undefined = undefined;

  constructor(parts: Exclude<PageContent, string>) {
    this.#sources = [{ parts, next: 0 }];
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Makes the first chunk, once. Rejects with what a value before its end throws. */
  async start(): Promise<void> {
    await (this.#first ??= this.#chunk());
  }

  next(): Promise<Chunk> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#chunk();
  }

  /** Ends every iterator that is open, the innermost first, also while one of them is waited for, and closes the streams behind them. */
  async return(): Promise<Chunk> {
    this.#isOver = true;
    this.#text = "";
    // It may reject after the reader has gone.
    this.#step?.catch(noop);
    const open = this.#sources.splice(0).toReversed();
    await Promise.allSettled(
      open.map(async (source) => {
        if ("iterator" in source) await source.iterator.return?.();
        else drop(source.parts.slice(source.next));
      }),
    );
    return done;
  }

  async #chunk(): Promise<Chunk> {
    try {
      while (!this.#isOver && (this.#sources.length > 0 || this.#step !== undefined)) {
        if (this.#text.length >= fullChunk) return this.#flush();
        if (this.#step === undefined) {
          const waited = this.#advance();
          if (waited === undefined) continue;
          this.#step = waited;
        }
        if (this.#text !== "" && !(await isReady(this.#step))) return this.#flush();
        await this.#step;
        this.#step = undefined;
        // An iterable may have empty items without end.
        if (shouldYield()) await yieldToEventLoop();
      }
      return this.#text === "" ? done : this.#flush();
    } catch (thrown) {
      inBackground(this.return());
      throw thrown;
    }
  }

  #flush(): Chunk {
    const value = encoder.encode(this.#text);
    this.#text = "";
    return { done: false, value };
  }

  /** Continues with the innermost source: writes its text, or returns what to wait for. */
  #advance(): Promise<void> | undefined {
    const source = this.#sources.at(-1) as OpenParts | OpenIterator;
    if ("iterator" in source) return this.#nextItem(source);
    const part = source.parts[source.next++];
    if (part === undefined) this.#sources.pop();
    else if (typeof part === "string") this.#text += part;
    else return this.#begin(part);
    return undefined;
  }

  #begin({ promise, iterable, contentOf }: PendingValue): Promise<void> | undefined {
    if (promise !== undefined) return promise.then((value) => this.#write(contentOf(value)));
    const iterator = iteratorOf(iterable as AsyncIterable<unknown>);
    if (begun.has(iterator)) throw new InvalidAnswerError("a page with a list that was read for another page");
    begun.add(iterator);
    this.#sources.push({ iterator, contentOf });
    return undefined;
  }

  async #nextItem(source: OpenIterator): Promise<void> {
    let item: IteratorResult<unknown>;
    try {
      item = await source.iterator.next();
    } catch (thrown) {
      // An iterator that threw has ended.
      this.#close(source);
      throw thrown;
    }
    if (item.done === true) this.#close(source);
    else this.#write(source.contentOf(item.value));
  }

  #close(source: OpenIterator): void {
    const at = this.#sources.indexOf(source);
    if (at !== -1) this.#sources.splice(at, 1);
  }

  #write(content: PageContent): void {
    if (this.#isOver) drop(content);
    else if (typeof content === "string") this.#text += content;
    else this.#sources.push({ parts: content, next: 0 });
  }
}

/** Closes the streams in content that will not be written, also in that of a promise that is pending. */
function drop(content: PageContent): void {
  if (typeof content === "string") return;
  for (const part of content) {
    if (typeof part === "string") continue;
    if (part.iterable !== undefined) letGo(part.iterable);
    part.promise?.then((value) => drop(part.contentOf(value))).catch(noop);
  }
}

/** Whether it settles within a few microtasks. */
async function isReady(step: Promise<void>): Promise<boolean> {
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  inBackground(step.then(settle, settle));
  for (let i = 0; i < readyWithin && !isSettled; i++) await Promise.resolve();
  return isSettled;
}

function noop(): void {}

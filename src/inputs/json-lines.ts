import { shouldYield, yieldToEventLoop } from "../async.ts";
import { needs, needsOptions, needsSchema, shown } from "../arguments.ts";
import { inOneLine, unsupportedMediaType } from "../refusals.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { compileReader } from "../schema/read.ts";
import type { ReadJson } from "../schema/read.ts";
import type { AnyStandard, InputOf, OutputOf, StandardSchema } from "../schema/standard.ts";
import type { AnyShape, JsonOf, ValueOf } from "../schema/valibot.ts";
import { checkContentType } from "./body-inputs.ts";
import { BodyReader, answeredBefore, bodyTooLarge, everyRead, noRoom, wrongMax } from "./body-source.ts";
import type { BodyFailure, BodyHolder, InvalidLine } from "./body-source.ts";
import type { Dep } from "./dep.ts";
import { bodyNeed } from "./body-reading.ts";

/** The media types of JSON lines; a client sends the first. None is registered. */
const lineTypes = ["application/x-ndjson", "application/jsonl"] as const;

/** The options of `jsonLines`. */
export interface JsonLinesOptions {
  /** The whole body's limit in bytes; the app's `maxBody` does not apply. */
  readonly max: number;
  /** The limit of a line in bytes, without its line feed: 1,048,576. A longer one is a 413. */
  readonly maxLine?: number;
}

/**
 * JSON lines while they arrive. Iteration throws the refusal of a failure, which answers the request if it is not caught: an
 * invalid line is a 400 with the line's number.
 */
export interface JsonLines<out A> extends AsyncIterable<A> {
  /**
   * The value of the next line, or undefined at the end; so a shape that makes undefined of a line raises. An `invalid` line is
   * one error, and the next call reads the next line. After any other failure, each later call returns the same failure.
   */
  read(): Promise<Result<A | undefined, BodyFailure | InvalidLine>>;
}

/** What a typed client sends for `jsonLines`. */
export interface LinesSent<out Json> {
  /** One value for each line. An async iterable is sent while it makes its values, where `fetch` can stream a body. */
  lines: Iterable<Json> | AsyncIterable<Json>;
}

const defaultMaxLine = 1_048_576;

/**
 * The body as JSON lines (`application/x-ndjson`, `application/jsonl`): one JSON value on each line, each validated by a shape, or
 * by a schema of another library, when it is read. Blank lines are left out. Any other `Content-Type`, or none, is a 415 before
 * the body is read. The lines can be read only while the handler runs: a later read fails, and the unread rest is dropped.
 *
 * The handler runs already when a line is found to be invalid, with all earlier lines read. A `for await` throws the 400, which
 * names the line: `body.line[3].item`. `read()` returns it, and can read the lines behind it.
 *
 * @example
 * ```ts
 * const orders = jsonLines(Order, { max: 1 << 30 });
 * const place = post(Path.of("orders"), { inputs: { orders }, returns: Returns.text }, async ({ orders }) => {
 *   let placed = 0;
 *   for await (const order of orders) placed += order.quantity;
 *   return `${placed} placed`;
 * });
 * ```
 */
export function jsonLines<S extends AnyShape>(
  shape: S,
  options: JsonLinesOptions,
): Dep<JsonLines<ValueOf<S>>, never, LinesSent<JsonOf<S>>>;
export function jsonLines<S extends StandardSchema>(
  schema: S,
  options: JsonLinesOptions,
): Dep<JsonLines<OutputOf<S>>, never, LinesSent<InputOf<S>>>;
export function jsonLines(shape: AnyStandard, options: JsonLinesOptions): Dep<never, never, never> {
  needsSchema("jsonLines: its shape", shape);
  needsOptions("jsonLines", options, "max maxLine");
  const { max, maxLine = defaultMaxLine } = options;
  needs(typeof max === "number", "jsonLines: max", max, "a number of bytes");
  return {
    node: {
      from: [],
      codes: [unsupportedMediaType],
      body: bodyNeed({ as: "lines", shape, contentTypes: lineTypes }),
      before: () => (request) => checkContentType(request, lineTypes),
      check: () => [...wrongMax(max), ...wrongMaxLine(maxLine)],
      compile: () => {
        const { readBody } = compileReader(shape);
        return (request) => {
          const { maxProblems } = request;
          const read = (line: Uint8Array, at: string) => readBody(line, at, maxProblems);
          return request.openBody((source, holder) => {
            return new LinesReader(new BodyReader(source, max, holder), holder, maxLine, read);
          });
        };
      },
    },
  };
}

function wrongMaxLine(maxLine: number): readonly string[] {
  if (Number.isSafeInteger(maxLine) && maxLine > 0) return [];
  return [`reads lines of at most ${shown(maxLine)} bytes, which is not a number of bytes`];
}

type ReadLine = (line: Uint8Array, at: string) => ReadJson<unknown> | Promise<ReadJson<unknown>>;

const end = ok(undefined);
const noBytes = new Uint8Array();
const lineFeed = 0x0a;

/** Splits a body into lines, and reads each as JSON. */
class LinesReader implements JsonLines<unknown> {
  readonly #body: BodyReader;
  readonly #holder: BodyHolder;
  readonly #read: ReadLine;
  readonly #begun: BegunLine;
  #turn: Promise<unknown> = Promise.resolve();
  /** The part that is being split, from `#at` on. */
  #part: Uint8Array = noBytes;
  #at = 0;
  /** The number of the line that was read last. */
  #number = 0;
  #failure: BodyFailure | undefined = undefined;

  constructor(body: BodyReader, holder: BodyHolder, maxLine: number, read: ReadLine) {
    this.#body = body;
    this.#holder = holder;
    this.#read = read;
    this.#begun = new BegunLine(holder, maxLine);
  }

  read(): Promise<Result<unknown, BodyFailure | InvalidLine>> {
    // Reads run one after the other, also when several are started at once.
    const read = this.#turn.then(() => this.#next());
    this.#turn = read.catch(() => {});
    return read;
  }

  [Symbol.asyncIterator](): AsyncGenerator<unknown, void, undefined> {
    return everyRead(() => this.read());
  }

  /** The request is answered, which gives back what the reader holds: a later read fails, unless every line is read. */
  close(): boolean {
    const isRead = this.#body.isRead && this.#begun.length === 0 && isBlank(this.#part.subarray(this.#at));
    if (!isRead) this.#failure ??= answeredBefore;
    const isWaited = this.#body.close();
    this.#part = noBytes;
    this.#at = 0;
    this.#begun.drop();
    return isWaited;
  }

  async #next(): Promise<Result<unknown, BodyFailure | InvalidLine>> {
    if (shouldYield()) await yieldToEventLoop();
    const line = await this.#nextLine();
    if (!line.ok) return error((this.#failure = line.error));
    return line.value === undefined ? end : this.#valueOf(line.value);
  }

  /** The bytes of the next line that is not blank, which stay as they are until the next call. */
  async #nextLine(): Promise<Result<Uint8Array | undefined, BodyFailure>> {
    if (this.#failure === answeredBefore) this.#holder.readTooLate();
    while (this.#failure === undefined && !this.#body.isAnswered) {
      const found = this.#part.indexOf(lineFeed, this.#at);
      const bytes = this.#part.subarray(this.#at, found === -1 ? undefined : found);
      if (found !== -1) {
        this.#at = found + 1;
        const line = this.#ended(bytes);
        // Without a promise for each: a part may be nothing but line feeds.
        if (line.ok && isBlank(line.value)) continue;
        return line;
      }
      const failure = this.#begun.add(bytes);
      if (failure !== undefined) return error(failure);
      const read = await this.#body.read();
      if (!read.ok) return read;
      if (this.#body.isAnswered) break;
      this.#part = read.value ?? noBytes;
      this.#at = 0;
      if (read.value === undefined) return this.#lastLine();
    }
    return this.#failure === undefined ? end : error(this.#failure);
  }

  /** The last line may have no line feed. */
  #lastLine(): Result<Uint8Array | undefined, BodyFailure> {
    const line = this.#ended(noBytes);
    return line.ok && isBlank(line.value) ? end : line;
  }

  #ended(bytes: Uint8Array): Result<Uint8Array, BodyFailure> {
    this.#number++;
    return this.#begun.end(bytes);
  }

  async #valueOf(line: Uint8Array): Promise<Result<unknown, InvalidLine>> {
    const number = this.#number;
    const read = await this.#read(line, `body.line[${number}]`);
    if (read.ok) {
      if (read.value === undefined)
        throw new Error("jsonLines: its shape made undefined of a line, which is their end");
      return read;
    }
    const { error: problems, more = 0 } = read;
    // Only codes and places: a message of a schema may be anything.
    const detail = inOneLine(problems, more, ({ code }, at) => `${at} ${code}`);
    return error({ kind: "invalid", line: number, problems, more, detail });
  }
}

/** A line whose end has not arrived, in a buffer that counts as held by its request. */
class BegunLine {
  readonly #holder: BodyHolder;
  readonly #max: number;
  #bytes: Uint8Array = noBytes;
  length = 0;

  constructor(holder: BodyHolder, max: number) {
    this.#holder = holder;
    this.#max = max;
  }

  add(bytes: Uint8Array): BodyFailure | undefined {
    const length = this.length + bytes.byteLength;
    if (length > this.#max) return bodyTooLarge;
    if (length > this.#bytes.byteLength && !this.#grow(length)) return noRoom;
    this.#bytes.set(bytes, this.length);
    this.length = length;
    return undefined;
  }

  /** The line with its last bytes. One that began in the same part is not copied. */
  end(bytes: Uint8Array): Result<Uint8Array, BodyFailure> {
    if (this.length === 0) return bytes.byteLength > this.#max ? error(bodyTooLarge) : ok(bytes);
    const failure = this.add(bytes);
    if (failure !== undefined) return error(failure);
    const line = this.#bytes.subarray(0, this.length);
    this.#holder.give(this.#bytes.byteLength);
    this.drop();
    return ok(line);
  }

  drop(): void {
    this.#bytes = noBytes;
    this.length = 0;
  }

  // Doubled: copied once for each part, a line of many small parts would take quadratic time.
  #grow(length: number): boolean {
    const size = Math.min(this.#max, Math.max(length, 2 * this.#bytes.byteLength, 1024));
    if (!this.#holder.take(size - this.#bytes.byteLength)) return false;
    const grown = new Uint8Array(size);
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
    return true;
  }
}

/** Whether a line has only the white space of JSON. */
function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

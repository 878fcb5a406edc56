import { mediaType } from "../codecs/index.ts";
import type { MediaType } from "../codecs/negotiation.ts";
import { isListOf, isObject, needs, needsCount, needsOptions, placeOf, shown } from "../arguments.ts";
import type { AnyCodec } from "../codecs/codec.ts";
import { decode } from "../http/bytes.ts";
import { Charsets } from "../http/charset.ts";
import { stripped } from "../http/fields.ts";
import { handled } from "../async.ts";
import { Problem, Refusal, invalidRefusal, unsupportedMediaType } from "../refusals.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { contentTypeOf, isMultipart, noBoundary, unsupported } from "./body-inputs.ts";
import { BodyReader, answeredBefore, bodyRefusal, bodyTooLarge, everyRead, joined, wrongMax } from "./body-source.ts";
import type { BodyHolder, MultipartFailure } from "./body-source.ts";
import type { Dep } from "./dep.ts";
import { MultipartReader } from "./multipart-parser.ts";
import type { MultipartEvent } from "./multipart-parser.ts";
import type { PartHead } from "./multipart-part.ts";
import type { InputRequest } from "./request.ts";
import { bodyNeed } from "./body-reading.ts";
import { codecFor } from "./text-schema.ts";
import type { TextKind } from "./text-schema.ts";
import { inUnknownCharset, missing, readControl } from "./text.ts";
import type { GivenField } from "./text.ts";

/** RFC 2046 §5.1.1: 1 to 70 characters of `bchars`, the last not a space. */
const legal = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/** The boundary of a `Content-Type`; undefined where it is not `multipart/form-data` or has no legal boundary. */
export function boundaryOf(contentType: string): string | undefined {
  const read = mediaType.parse(stripped(contentType));
  if (!read.ok || read.value.type !== "multipart" || read.value.subtype !== "form-data") return undefined;
  const boundary = read.value.parameters.get("boundary");
  return boundary !== undefined && legal.test(boundary) ? boundary : undefined;
}

/** One part of a multipart body. Iteration throws the refusal of a failure, which answers the request if not caught. */
export interface Part extends AsyncIterable<Uint8Array> {
  /** The field's name. */
  readonly name: string;
  /** Chosen by the client: never use it as a path. Undefined for a field. */
  readonly filename?: string;
  /** As the client sends it: `text/plain` without a type, `application/octet-stream` where the type is malformed. */
  readonly contentType: MediaType;
  /** Its next bytes, or undefined at its end. A part also ends when the next part is read. */
  read(): Promise<Result<Uint8Array | undefined, MultipartFailure>>;
  /**
   * Reads the whole part as a field, by a codec or a schema: its value is that of `Form.required`. Throws, as iteration does, the 400
   * of a text that is not one, with the problem at `form.<name>`, and the 413 of a part that is longer than `max`.
   *
   * @param options `max` is in bytes: 65,536 unless set.
   *
   * @example
   * ```ts
   * if (part.name === "title") title = await part.parse(Codec.string, { max: 200 });
   * ```
   */
  parse<A, S = unknown>(kind: TextKind<A, S>, options?: { readonly max?: number }): Promise<A>;
}

/** A multipart body as a stream of parts. */
export interface Multipart extends AsyncIterable<Part> {
  /** The next part, or undefined after the last. The unread rest of the previous part is skipped. */
  next(): Promise<Result<Part | undefined, MultipartFailure>>;
}

const end = ok(undefined);

/** The body's failure for a parser's failure. */
export function failureOf({ reason, detail }: Extract<MultipartEvent, { kind: "failed" }>): MultipartFailure {
  return { kind: reason === "head_too_large" ? "too_large" : "malformed", detail };
}

/** Splits a body into its parts. */
class PartsReader implements Multipart {
  readonly #body: BodyReader;
  readonly #holder: BodyHolder;
  readonly #reader: MultipartReader;
  #turn: Promise<unknown> = Promise.resolve();
  /** The part that is being read, or where the reader is without one. */
  #at: ReadPart | "between" | "over" = "between";
  #failure: MultipartFailure | undefined = undefined;

  constructor(body: BodyReader, holder: BodyHolder, boundary: string, maxHead: number) {
    this.#body = body;
    this.#holder = holder;
    this.#reader = new MultipartReader(boundary, { maxHead });
  }

  next(): Promise<Result<Part | undefined, MultipartFailure>> {
    return this.#inTurn(() => this.#nextPart());
  }

  [Symbol.asyncIterator](): AsyncGenerator<Part, void, undefined> {
    return everyRead(() => this.next());
  }

  /** The request is answered, which gives back what the reader holds: a later read fails, unless every part is read. */
  close(): boolean {
    if (this.#at === "between" && this.#reader.next()?.kind === "end") this.#at = "over";
    if (this.#at !== "over") this.#failure ??= answeredBefore;
    return this.#body.close();
  }

  /** The next bytes of a part. */
  contentOf(part: ReadPart): Promise<Result<Uint8Array | undefined, MultipartFailure>> {
    return this.#inTurn(() => this.#nextContent(part));
  }

  // Reads run one after the other, also when several are started at once.
  #inTurn<A>(read: () => Promise<A>): Promise<A> {
    const reading = this.#turn.then(read);
    this.#turn = reading;
    return reading;
  }

  async #nextPart(): Promise<Result<Part | undefined, MultipartFailure>> {
    if (this.#at !== "over") this.#at = "between";
    while (this.#at === "between") {
      const event = await this.#event();
      if (!event.ok) return event;
      if (event.value === undefined || event.value.kind === "end") this.#at = "over";
      else if (event.value.kind === "head") return ok((this.#at = new ReadPart(this, event.value.head)));
    }
    return end;
  }

  async #nextContent(part: ReadPart): Promise<Result<Uint8Array | undefined, MultipartFailure>> {
    if (this.#at !== part) return end;
    const event = await this.#event();
    if (!event.ok) return event;
    if (event.value?.kind === "content") return ok(event.value.bytes);
    this.#at = "between";
    return end;
  }

  /** The next event. */
  async #event(): Promise<Result<Exclude<MultipartEvent, { kind: "failed" }> | undefined, MultipartFailure>> {
    if (this.#failure === answeredBefore) this.#holder.readTooLate();
    while (this.#failure === undefined) {
      const event = this.#reader.next();
      if (event?.kind === "failed") return error(failureOf(event));
      if (event !== undefined) return ok(event);
      const read = await this.#body.read();
      if (!read.ok) return read;
      if (read.value !== undefined) this.#reader.feed(read.value);
      else this.#reader.end();
    }
    return error(this.#failure);
  }
}

class ReadPart implements Part {
  readonly name: string;
  readonly filename?: string;
  readonly contentType: MediaType;
  readonly #parts: PartsReader;

  constructor(parts: PartsReader, { name, filename, contentType }: PartHead) {
    this.name = name;
    if (filename !== undefined) this.filename = filename;
    this.contentType = contentType;
    this.#parts = parts;
  }

  read(): Promise<Result<Uint8Array | undefined, MultipartFailure>> {
    return this.#parts.contentOf(this);
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    return everyRead(() => this.read());
  }

  parse<A, S = unknown>(kind: TextKind<A, S>, options: { readonly max?: number } = {}): Promise<A> {
    needsOptions("Part.parse", options, "max");
    const { max = 65_536 } = options;
    needsCount("Part.parse: max", max);
    const at = placeOf("form", this.name);
    return handled(this.#parse(codecFor(kind, at), at, max) as Promise<A>);
  }

  async #parse(codec: AnyCodec, at: string, max: number): Promise<unknown> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of this) {
      length += piece.byteLength;
      if (length > max) throw bodyRefusal(bodyTooLarge);
      pieces.push(piece);
    }
    const read = readControl(codec, this.#textOf(joined(pieces, length)), at, () => missing(at));
    if (read instanceof Problem) throw invalidRefusal([read]);
    if (read instanceof Refusal) throw read;
    return read;
  }

  /** In the charset that the part names, which is UTF-8 where it names none (RFC 7578 §4.5). */
  #textOf(bytes: Uint8Array): GivenField {
    const label = this.contentType.parameters.get("charset") ?? "";
    if (label === "") return decode(bytes) ?? null;
    const charset = new Charsets().of(label);
    return charset === undefined ? inUnknownCharset : (charset.decode(bytes) ?? null);
  }
}

/** The options of `multipart`. */
export interface MultipartOptions {
  /** The whole body's limit in bytes; the app's `maxBody` does not apply. */
  readonly max: number;
  /** The limit of a part's head in bytes: 16,384. A longer one is a 413. */
  readonly maxHead?: number;
  /**
   * The parts, for the API document and its page: inputs of `Form`, as `[Form.File.required("video"), Form.optional("title", Codec.string)]`.
   * They are described, and not checked: the handler reads the parts. None by default.
   */
  readonly fields?: readonly Dep<unknown, never, { form?: object }>[];
}

/**
 * A multipart form as a stream of parts, for files too large for memory. Nothing is written to disk. Any other
 * `Content-Type`, or none, is a 415 before the body is read.
 *
 * @example
 * ```ts
 * const store = post(Path.of("videos"), { inputs: { upload: multipart({ max: 1 << 30 }) }, returns: Returns.text },
 *   async ({ upload }) => {
 *     let bytes = 0;
 *     for await (const part of upload) {
 *       if (part.name === "video") for await (const piece of part) bytes += piece.byteLength;
 *     }
 *     return `${bytes} bytes`;
 *   });
 * ```
 */
export function multipart(options: MultipartOptions): Dep<Multipart, never, { body: FormData }> {
  needsOptions("multipart", options, "max maxHead fields");
  const { max, maxHead = 16_384, fields = [] } = options;
  needs(isListOf(fields, isField), "multipart: fields", fields, "a list of inputs of `Form`");
  return {
    node: {
      from: [],
      needs: fields.flatMap(({ node }) => node.need ?? []),
      codes: [unsupportedMediaType],
      body: bodyNeed({ as: "multipart", max, maxHead }),
      before: () => checkMultipart,
      check: (format, route) => [
        ...wrongMax(max),
        ...wrongMaxHead(maxHead),
        ...fields.flatMap(({ node }) => node.check?.(format, route) ?? []),
      ],
      compile: () => (request) => {
        const boundary = boundaryOf(contentTypeOf(request) ?? "");
        if (boundary === undefined) return noBoundary;
        return request.openBody((source, holder) => {
          return new PartsReader(new BodyReader(source, max, holder), holder, boundary, maxHead);
        });
      },
    },
  };
}

function isField(field: unknown): boolean {
  const node = isObject(field) ? field["node"] : undefined;
  const need = isObject(node) ? node["need"] : undefined;
  return isObject(need) && (need["in"] === "form" || need["in"] === "file");
}

function wrongMaxHead(maxHead: number): readonly string[] {
  if (Number.isSafeInteger(maxHead) && maxHead > 0) return [];
  return [`reads parts with heads of at most ${shown(maxHead)} bytes, which is not a number of bytes`];
}

function checkMultipart(request: InputRequest): Refusal | Problem | undefined {
  const line = contentTypeOf(request);
  if (line === undefined || !isMultipart(line)) return unsupported(["multipart/form-data"]);
  return boundaryOf(line) === undefined ? noBoundary : undefined;
}

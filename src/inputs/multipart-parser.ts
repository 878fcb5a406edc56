import { readPartHead } from "./multipart-part.ts";
import type { PartHead } from "./multipart-part.ts";

const carriageReturn = 0x0d;

/**
 * `CRLF--boundary`, looked for in bytes that arrive in pieces.
 *
 * A boundary holds no CR, so CR is its first byte and no other. A match that breaks off therefore hides no second one
 * begun within it, and the bytes of a broken match are looked at twice at most.
 */
class Delimiter {
  readonly bytes: Uint8Array;
  readonly #steps: Uint8Array;

  constructor(boundary: string) {
    this.bytes = new TextEncoder().encode(`\r\n--${boundary}`);
    this.#steps = stepsOf(this.bytes);
  }

  get length(): number {
    return this.bytes.length;
  }

  /**
   * Where it stands whole in bytes; -1 where nowhere.
   *
   * Horspool's search, at 8 GB/s where the boundary is a browser's and at 1 where it is one character. Where it would
   * step by one it looks for the next CR instead: content made of the boundary's own bytes passes at 3.5 GB/s, not
   * 0.01. The worst found, a CR in every third byte and a boundary of dashes, passes at 0.3.
   */
  indexIn(bytes: Uint8Array, from: number): number {
    const last = this.length - 1;
    const lastByte = this.bytes[last];
    for (let at = from; at !== -1 && at + last < bytes.length;) {
      const byte = bytes[at + last] as number;
      if (byte === lastByte && this.matched(bytes, at, 0) === this.length) return at;
      const step = this.#steps[byte] as number;
      at = step > 1 ? at + step : nextCarriageReturn(bytes, at + 1);
    }
    return -1;
  }

  /** How many of its bytes bytes end with, for the next ones to go on from. */
  begunAtEnd(bytes: Uint8Array, from: number): number {
    const first = Math.max(from, bytes.length - this.length + 1);
    for (let at = bytes.length - 1; at >= first; at--) {
      if (bytes[at] !== carriageReturn) continue;
      const matched = this.matched(bytes, at, 0);
      return at + matched === bytes.length ? matched : 0;
    }
    return 0;
  }

  /** How many of its bytes are there, when some were before and bytes go on from them. */
  matched(bytes: Uint8Array, from: number, before: number): number {
    let matched = before;
    while (matched < this.length && bytes[from + matched - before] === this.bytes[matched]) matched += 1;
    return matched;
  }
}

// The native search passes over 4 GB/s, but to call it costs as much as eight steps of this loop, without which the
// worst content takes twice as long.
function nextCarriageReturn(bytes: Uint8Array, from: number): number {
  const near = from + 8;
  for (let at = from; at < near; at++) if (bytes[at] === carriageReturn) return at;
  return bytes.indexOf(carriageReturn, near);
}

// How far a match may be moved on, by the byte that stands where its last one should.
function stepsOf(delimiter: Uint8Array): Uint8Array {
  const last = delimiter.length - 1;
  const steps = new Uint8Array(256).fill(delimiter.length);
  for (let i = 0; i < last; i++) steps[delimiter[i] as number] = last - i;
  return steps;
}

const headLineEnd = 0x0a;

const firstRoom = 512;

/** What a part's head is found to be once bytes were taken. */
type HeadFound = "unfinished" | "whole" | "too_large";

/** The bytes of a part's head, kept until its blank line is there. */
class HeadBytes {
  readonly #max: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;
  // How much of CRLF CRLF was there last. The line before the head ended in the first of them: a head may be empty.
  #ending = 2;

  /** @param max the most bytes a head has, its blank line counted. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Everything before the blank line. */
  get lines(): Uint8Array {
    return this.#bytes.subarray(0, this.#length - 2);
  }

  get found(): HeadFound {
    if (this.#length > this.#max) return "too_large";
    return this.#ending === 4 ? "whole" : "unfinished";
  }

  /** Forgets the head before. */
  clear(): void {
    this.#length = 0;
    this.#ending = 2;
  }

  /** Takes bytes up to the blank line's end or the limit, and answers where it stopped. */
  take(bytes: Uint8Array, from: number): number {
    let at = from;
    for (; at < bytes.length && this.found === "unfinished"; at++) this.#add(bytes[at] as number);
    return at;
  }

  #add(byte: number): void {
    this.#makeRoom();
    this.#bytes[this.#length] = byte;
    this.#length += 1;
    if (byte === (this.#ending % 2 === 0 ? carriageReturn : headLineEnd)) this.#ending += 1;
    else this.#ending = byte === carriageReturn ? 1 : 0;
  }

  #makeRoom(): void {
    if (this.#length < this.#bytes.length) return;
    const roomier = new Uint8Array(Math.min(this.#max + 1, Math.max(firstRoom, this.#length * 2)));
    roomier.set(this.#bytes);
    this.#bytes = roomier;
  }
}

// Ours: @remix-run/multipart-parser 0.16 holds every part whole, refuses a body that is cut behind its last boundary, and
// takes folded lines and parameters given twice.

/** What comes next in a multipart body. */
export type MultipartEvent =
  | { readonly kind: "head"; readonly head: PartHead }
  /** Some of a part's content, never empty: mostly a view on the bytes fed. */
  | { readonly kind: "content"; readonly bytes: Uint8Array }
  | { readonly kind: "part-end" }
  /** The last boundary. What follows it is passed over. */
  | { readonly kind: "end" }
  | MultipartFailed;

/** Why a body cannot be read any further; `detail` is for the log. */
export interface MultipartFailed {
  readonly kind: "failed";
  readonly reason: "malformed" | "head_too_large";
  readonly detail: string;
}

/**
 * Where the reader stands. Content is what a delimiter ends, the preamble being the content of no part. A boundary's
 * line is read byte by byte: `boundary` is right behind it, `dash` behind its first `-`, `padding` in the blanks a
 * relay may add, `return` behind its CR.
 */
type State = "content" | "boundary" | "dash" | "padding" | "return" | "head" | "over";

const none = /* @__PURE__ */ new Uint8Array(0);
/** The CRLF that ends the line before, which a delimiter begins with: a boundary may come at once. */
const lineEnd = 2;

/**
 * Takes a `multipart/form-data` body apart (RFC 7578, RFC 2046 §5.1) as it arrives, waiting for nothing itself: feed it
 * bytes, ask for events until there is none, feed it the next. However the bytes are cut, the events are the same, but
 * for where content is cut. It holds the bytes fed last and at most one head.
 *
 * A line that begins with the boundary is a boundary wherever it stands, and must be a whole one: content that holds
 * such a line was written with the wrong boundary, and where it ends cannot be known.
 */
export class MultipartReader {
  readonly #delimiter: Delimiter;
  readonly #head: HeadBytes;
  #state: State = "content";
  #inPart = false;
  /** How much of the delimiter came last, and how much of that is the line end before the content. */
  #matched = lineEnd;
  #before = lineEnd;
  #bytes: Uint8Array = none;
  #at = 0;
  #ended = false;
  #failed: MultipartFailed | undefined;

  /**
   * @param boundary a legal one, as `boundaryOf` answers.
   * @param options.maxHead the most bytes the head of a part may have, its blank line counted.
   */
  constructor(boundary: string, options: { readonly maxHead: number }) {
    this.#delimiter = new Delimiter(boundary);
    this.#head = new HeadBytes(options.maxHead);
  }

  /** Hands it the next bytes, which are its own from then on. Only when `next` had nothing left to tell. */
  feed(bytes: Uint8Array): void {
    if (this.#at < this.#bytes.length) throw new Error("MultipartReader was fed before it had read what it has.");
    if (this.#state === "over") return;
    this.#bytes = bytes;
    this.#at = 0;
  }

  /** Says that the body ended: before the last boundary that is a failure. */
  end(): void {
    this.#ended = true;
  }

  /** What comes next; undefined when it takes more bytes to know. Past the end always undefined, past a failure that. */
  next(): MultipartEvent | undefined {
    while (this.#at < this.#bytes.length) {
      const event = this.#read();
      if (event !== undefined) return event;
    }
    if (this.#ended && this.#state !== "over") return this.#fail("malformed", this.#cutShort());
    return this.#failed;
  }

  #read(): MultipartEvent | undefined {
    if (this.#state === "content") return this.#matched > 0 ? this.#readDelimiter() : this.#readContent();
    if (this.#state === "head") return this.#readHead();
    return this.#readBoundaryLine(this.#bytes[this.#at] as number);
  }

  #readContent(): MultipartEvent | undefined {
    const start = this.#at;
    const found = this.#delimiter.indexIn(this.#bytes, start);
    if (found === -1) {
      this.#matched = this.#delimiter.begunAtEnd(this.#bytes, start);
      this.#at = this.#bytes.length;
      return this.#content(this.#bytes.subarray(start, this.#at - this.#matched));
    }
    this.#at = found + this.#delimiter.length;
    this.#state = "boundary";
    return this.#content(this.#bytes.subarray(start, found));
  }

  // Goes on with a delimiter that was begun. Where it breaks off, what there was of it is content after all.
  #readDelimiter(): MultipartEvent | undefined {
    const matched = this.#delimiter.matched(this.#bytes, this.#at, this.#matched);
    this.#at += matched - this.#matched;
    this.#matched = matched;
    if (matched === this.#delimiter.length) this.#state = "boundary";
    else if (this.#at < this.#bytes.length) return this.#breakOff();
    return undefined;
  }

  #breakOff(): MultipartEvent | undefined {
    // A copy: what a handler does to its content must not reach the delimiter.
    const held = this.#delimiter.bytes.slice(this.#before, this.#matched);
    this.#matched = 0;
    this.#before = 0;
    return this.#content(held);
  }

  #content(bytes: Uint8Array): MultipartEvent | undefined {
    return this.#inPart && bytes.length > 0 ? { kind: "content", bytes } : undefined;
  }

  #readBoundaryLine(byte: number): MultipartEvent | undefined {
    const after = stateAfter(this.#state, byte);
    if (after === undefined) return this.#fail("malformed", "a boundary is followed by something else");
    // A part ends where its boundary's line proves to be one. The byte that proved it is then read again.
    if (this.#inPart && (after === "head" || after === "over")) {
      this.#inPart = false;
      return { kind: "part-end" };
    }
    this.#at += 1;
    this.#state = after;
    if (after === "head") this.#head.clear();
    return after === "over" ? this.#finish() : undefined;
  }

  #readHead(): MultipartEvent | undefined {
    this.#at = this.#head.take(this.#bytes, this.#at);
    if (this.#head.found === "unfinished") return undefined;
    if (this.#head.found === "too_large") return this.#fail("head_too_large", "the head of a part is too long");
    const read = readPartHead(this.#head.lines);
    if (!read.ok) return this.#fail("malformed", read.error);
    this.#state = "content";
    this.#inPart = true;
    this.#matched = lineEnd;
    this.#before = lineEnd;
    return { kind: "head", head: read.value };
  }

  #cutShort(): string {
    if (this.#state === "head") return "the body ends in the head of a part";
    if (this.#state === "content" && !this.#inPart) return "the body has no boundary";
    return "the body ends before its last boundary";
  }

  #finish(): MultipartEvent {
    this.#state = "over";
    this.#bytes = none;
    return { kind: "end" };
  }

  #fail(reason: MultipartFailed["reason"], detail: string): MultipartFailed {
    this.#finish();
    this.#failed = { kind: "failed", reason, detail };
    return this.#failed;
  }
}

/** Where a byte leads in a boundary's line; undefined where it is no such line. */
function stateAfter(state: State, byte: number): State | undefined {
  switch (byte) {
    case 0x2d:
      if (state === "dash") return "over";
      return state === "boundary" ? "dash" : undefined;
    case 0x20:
    case 0x09:
      return state === "boundary" || state === "padding" ? "padding" : undefined;
    case 0x0d:
      return state === "boundary" || state === "padding" ? "return" : undefined;
    case 0x0a:
      return state === "return" ? "head" : undefined;
    default:
      return undefined;
  }
}

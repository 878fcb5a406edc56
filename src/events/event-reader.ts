/** An event as it was read from a stream. */
export interface ReadEvent {
  /** `message` where the stream named none. */
  readonly name: string;
  /** The last id the stream gave, with this event or before it. */
  readonly id: string | undefined;
  readonly data: string;
  /** What the stream last asked the client to wait before it reconnects. */
  readonly retryMs: number | undefined;
}

/** Reads an event stream (HTML, "Interpreting an event stream") however its bytes are cut. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  readonly #maxBytes: number;
  #pending = "";
  #isBehindCr = false;
  #name = "";
  #data: string[] = [];
  #length = 0;
  #id: string | undefined = undefined;
  /** The id to go on after: of the last event that ended, with data or without. */
  lastId: string | undefined = undefined;
  /** What the stream last asked its client to wait before it reconnects. */
  retryMs: number | undefined = undefined;

  /**
   * @param maxBytes The most an event may hold; past it `feed` throws.
   * @param before What read the connection before this one, whose stream goes on.
   */
  constructor(maxBytes = 1_048_576, before?: EventReader) {
    this.#maxBytes = maxBytes;
    this.#id = this.lastId = before?.lastId;
    this.retryMs = before?.retryMs;
  }

  /** The events that these bytes complete. */
  feed(bytes: Uint8Array): readonly ReadEvent[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    // A CR ends a line whatever comes next: an LF at the beginning is the other half of that end.
    let start = this.#isBehindCr && text.startsWith("\n") ? 1 : 0;
    if (text !== "") this.#isBehindCr = text.endsWith("\r");
    const events: ReadEvent[] = [];
    for (let end = lineEndFrom(text, start); end !== null; end = lineEndFrom(text, start)) {
      const line = this.#pending + text.slice(start, end.index);
      this.#pending = "";
      start = end.index + end[0].length;
      const event = line === "" ? this.#dispatch() : this.#field(line);
      if (event !== undefined) events.push(event);
    }
    // What was looked at has no end of a line, and is not looked at again.
    this.#pending += text.slice(start);
    this.#check(this.#length + this.#pending.length);
    return events;
  }

  #field(line: string): undefined {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "event") this.#name = value;
    else if (field === "data") this.#keep(value);
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
  }

  #keep(value: string): void {
    this.#data.push(value);
    this.#length += value.length + 1;
    this.#check(this.#length);
  }

  #dispatch(): ReadEvent | undefined {
    const [name, data] = [this.#name, this.#data];
    this.#name = "";
    this.#data = [];
    this.#length = 0;
    this.lastId = this.#id;
    if (data.length === 0) return undefined;
    return { name: name === "" ? "message" : name, id: this.#id, data: data.join("\n"), retryMs: this.retryMs };
  }

  #check(length: number): void {
    if (length > this.#maxBytes) throw new RangeError(`an event is longer than ${this.#maxBytes} bytes`);
  }
}

const lineEnd = /\r\n?|\n/g;

function lineEndFrom(text: string, start: number): RegExpExecArray | null {
  lineEnd.lastIndex = start;
  return lineEnd.exec(text);
}

import { counted } from "../counted.ts";

/**
 * The comment with which an event stream ends where its server stops. A client that reads it knows that the stream is not over, although
 * the response is whole.
 */
export const stoppingText = "stopping";

/** An event read from a stream. */
export interface ReadEvent {
  /** `message` if the stream named none. */
  readonly name: string;
  /** The stream's last id, of this event or an earlier one. */
  readonly id: string | undefined;
  readonly data: string;
  /** The stream's last `retry`: how long the client waits before it reconnects. */
  readonly retryMs: number | undefined;
}

// It is sent back in a header, for which servers have 8 KiB and more.
const maxIdLength = 4096;

function shortId(id: string): string {
  if (id.length > maxIdLength) throw new RangeError(`the id of an event is longer than ${maxIdLength} characters`);
  return id;
}

/** Parses an event stream (HTML, "Interpreting an event stream") in chunks of any size. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  readonly #maxLength: number;
  #pending = "";
  #isBehindCr = false;
  #name = "";
  #data: string[] = [];
  #length = 0;
  #id: string | undefined = undefined;
  /** The id to resume after: of the last complete event, with data or without. */
  lastId: string | undefined = undefined;
  /** The stream's last `retry`. */
  retryMs: number | undefined = undefined;
  /** Whether the last line says that the server stops, so that the end of the response is not that of the stream. */
  isStopping = false;

  /**
   * @param maxLength The limit of an event as it is sent, and of any other line, in UTF-16 code units. `feed` throws for a longer one,
   * and for an id that is longer than 4,096.
   * @param before The reader of the previous connection, if this one resumes its stream.
   */
  constructor(maxLength = 1_048_576, before?: EventReader) {
    this.#maxLength = maxLength;
    this.#id = this.lastId = before?.lastId;
    this.retryMs = before?.retryMs;
  }

  /** Returns the events that these bytes complete. */
  feed(bytes: Uint8Array): readonly ReadEvent[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    // A CR at the end of a chunk ends a line; an LF at the start of the next one belongs to it.
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
    // The rest has no line end, and is not searched again.
    this.#pending += text.slice(start);
    this.#check(this.#length + this.#pending.length);
    return events;
  }

  #field(line: string): undefined {
    this.#check(this.#length + line.length);
    this.isStopping = line === stoppingLine;
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "event") this.#name = value;
    else if (field === "data") this.#keep(value, line.length);
    else if (field === "id" && !value.includes("\0")) this.#id = shortId(value);
    else if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
  }

  #keep(value: string, lineLength: number): void {
    this.#data.push(value);
    this.#length += lineLength;
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
    if (length > this.#maxLength)
      throw new RangeError(`an event is longer than ${counted(this.#maxLength, "character")}`);
  }
}

const stoppingLine = `: ${stoppingText}`;
const lineEnd = /\r\n?|\n/g;

function lineEndFrom(text: string, start: number): RegExpExecArray | null {
  lineEnd.lastIndex = start;
  return lineEnd.exec(text);
}

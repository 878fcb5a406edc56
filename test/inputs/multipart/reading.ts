import type { PartHead } from "../../../src/inputs/multipart-part.ts";
import { MultipartReader } from "../../../src/inputs/multipart-parser.ts";
import type { MultipartEvent, MultipartFailed } from "../../../src/inputs/multipart-parser.ts";

/** A part as it was read, with its content in one piece. */
export interface ReadPart {
  readonly head: PartHead;
  content: Uint8Array;
  ended: boolean;
}

/** A body as it was read, to its end or its failure. */
export interface ReadBody {
  readonly parts: readonly ReadPart[];
  readonly failed: MultipartFailed | undefined;
}

const encoder = new TextEncoder();
export const utf8 = (text: string): Uint8Array => encoder.encode(text);
const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Text in which each character is one byte. */
export function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

export function concatenated(...pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Bytes in chunks, each in memory of its own like chunks from a socket. */
export function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [...places, bytes.length].toSorted((a, b) => a - b);
  return sorted.map((end, i) => bytes.slice(sorted[i - 1] ?? 0, end));
}

export function singly(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte));
}

/** Every event of a body that is read in chunks; throws if the reader never ends. */
export function eventsOf(pieces: readonly Uint8Array[], boundary = "b", maxHead = 16_384): MultipartEvent[] {
  const reader = new MultipartReader(boundary, { maxHead });
  const events: MultipartEvent[] = [];
  const most = pieces.reduce((length, piece) => length + piece.length, 0) * 2 + 4;
  const drain = (): boolean => {
    for (let event = reader.next(); event !== undefined; event = reader.next()) {
      if (events.push(event) > most) throw new Error("There are more events than bytes could make.");
      if (event.kind === "failed") return false;
    }
    return true;
  };
  for (const piece of pieces) {
    reader.feed(piece);
    if (!drain()) return events;
  }
  reader.end();
  drain();
  return events;
}

/** The parts that the events describe; throws if the events are in a wrong order. */
export function bodyOf(events: readonly MultipartEvent[]): ReadBody {
  const parts: ReadPart[] = [];
  let open: ReadPart | undefined;
  for (const [i, event] of events.entries()) {
    if (event.kind === "head" && open === undefined) {
      open = { head: event.head, content: new Uint8Array(0), ended: false };
      parts.push(open);
    } else if (event.kind === "content" && open !== undefined && event.bytes.length > 0) {
      open.content = concatenated(open.content, event.bytes);
    } else if (event.kind === "part-end" && open !== undefined) {
      open.ended = true;
      open = undefined;
    } else if (event.kind === "end" && open === undefined && i === events.length - 1) {
      return { parts, failed: undefined };
    } else if (event.kind === "failed" && i === events.length - 1) {
      return { parts, failed: event };
    } else {
      throw new Error(`${event.kind} came where it must not.`);
    }
  }
  throw new Error("The events stopped before the end.");
}

export function readBody(pieces: readonly Uint8Array[], boundary?: string, maxHead?: number): ReadBody {
  return bodyOf(eventsOf(pieces, boundary, maxHead));
}

/** `name|filename or -|type|content` of each part, as the cases are written, or the failure of the body. */
export function shown({ parts, failed }: ReadBody): readonly string[] | MultipartFailed["reason"] {
  if (failed !== undefined) return failed.reason;
  return parts.map(({ head: { name, filename, contentType }, content }) => {
    return `${name}|${filename ?? "-"}|${contentType.type}/${contentType.subtype}|${decoded(content)}`;
  });
}

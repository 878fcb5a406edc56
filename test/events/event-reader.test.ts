/** Event streams as a client reads them (HTML, "Interpreting an event stream"; rows ER). */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Event } from "usher-http";
import { EventReader } from "../../src/events/event-reader.ts";
import type { ReadEvent } from "../../src/events/event-reader.ts";
import "../support/logs.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const shown = ({ name, data, id, retryMs }: ReadEvent): string =>
  `${name}[${data}]${id === undefined ? "" : `#${id}`}${retryMs === undefined ? "" : `~${retryMs}`}`;

const read = (parts: Iterable<Uint8Array>, maxBytes?: number): readonly string[] => {
  const reader = new EventReader(maxBytes);
  return [...parts].flatMap((part) => reader.feed(part).map(shown));
};
const bytewise = (text: string): readonly Uint8Array[] => [...bytesOf(text)].map((byte) => Uint8Array.of(byte));

describe("an event stream that a client reads", () => {
  it.each([
    ["ER-01", "event: a\ndata: x\n\n", ["a[x]"]],
    ["ER-03", "data: a\ndata: b\n\n", ["message[a\nb]"]],
    ["ER-04", ": ping\ndata: x\n\n", ["message[x]"]],
    ["ER-06", "data\n\n", ["message[]"]],
    ["ER-07", "event: a\n\n", []],
    ["an event without data gives its id", "id: 1\n\ndata: x\n\n", ["message[x]#1"]],
    ["ER-09", "id: a\0b\ndata: x\n\n", ["message[x]"]],
    ["ER-10", "retry: 1500\ndata: x\n\nretry: 1x\ndata: y\n\n", ["message[x]~1500", "message[y]~1500"]],
    ["ER-12", "odd: y\ndata: x\n\n", ["message[x]"]],
    ["ER-13", "data: x\n", []],
    ["CRLF", "event: a\r\ndata: x\r\n\r\n", ["a[x]"]],
    ["CR", "event: a\rdata: x\r\rdata: y\n\n", ["a[x]", "message[y]"]],
    ["one blank is no part of a value", "data:  x\n\n", ["message[ x]"]],
    ["a byte order mark", "\ufeffdata: x\n\n", ["message[x]"]],
    ["ER-16", "data: 1234\n\ndata: 1234\n\ndata: 1234\n\n", ["message[1234]", "message[1234]", "message[1234]"]],
  ])("%s", (_id, text, events) => {
    expect(read([bytesOf(text)])).toEqual(events);
    expect(read(bytewise(text))).toEqual(events);
  });

  it("yields an event when its last line has ended, with any kind of line end", () => {
    for (const [end, rest] of [
      ["\n", []],
      ["\r\n", []],
      ["\r", []],
      ["\r", ["\n"]],
    ] as const) {
      const reader = new EventReader();
      expect(reader.feed(bytesOf(`data: x${end}${end}`)).map(shown)).toEqual(["message[x]"]);
      // A CR may be the first half of a CRLF.
      expect(rest.flatMap((more) => reader.feed(bytesOf(more)).map(shown))).toEqual([]);
      expect(reader.feed(bytesOf(`data: y${end}${end}`)).map(shown)).toEqual(["message[y]"]);
    }
  });
});

describe("an event stream whose event may be too long", () => {
  it("ER-15 limits the length of an event", () => {
    expect(() => read([bytesOf("data: 0123456789")], 8)).toThrow("an event is longer than 8 characters");
    expect(() => read(bytewise("data: 01\ndata: 23\ndata: 45\ndata: 67"), 12)).toThrow("an event is longer");
    expect(read(bytewise("data: 1\n\ndata: 2\n\ndata: 3\n\n"), 8)).toEqual(["message[1]", "message[2]", "message[3]"]);
  });

  it.each([
    ["an event as long as the limit", "data: 12\n\n", 8, true],
    ["a longer one", "data: 123\n\n", 8, false],
    ["lines that are too long together", "data: 1\ndata: 2\n\n", 13, false],
    ["lines that are as long as the limit together", "data: 1\ndata: 2\n\n", 14, true],
    ["lines without data, which are too long together", "data\ndata\ndata\n\n", 11, false],
    ["comments that are too long together", ": 1234\n: 1234\n\ndata: 1\n\n", 8, true],
    ["a long comment", ": 1234567\ndata: 1\n\n", 8, false],
    ["a long name", "event: 123\ndata: 1\n\n", 8, false],
    ["a long id", `id: ${"1".repeat(4096)}\ndata: 1\n\n`, 10_000, true],
    ["an id that no header could have", `id: ${"1".repeat(4097)}\ndata: 1\n\n`, 10_000, false],
  ])("has the same limit however the bytes are cut: %s", (_, text, most, isRead) => {
    for (const parts of [[bytesOf(text)], bytewise(text)]) {
      if (isRead) expect(read(parts, most)).toHaveLength(1);
      else expect(() => read(parts, most)).toThrow(RangeError);
    }
  });
});

describe("an event stream that was written by Event.make", () => {
  it("yields the events that were written, however the bytes are cut", () => {
    const kind = Event.text("tick");
    const text = fc.string({ unit: "grapheme" });
    const id = fc.option(fc.stringMatching(/^[^\r\n\0]*$/u), { nil: undefined });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, id)), fc.array(fc.nat(300)), (sent, cuts) => {
        const events = sent.map(([data, id]) => Event.make(kind, data, id === undefined ? {} : { id }));
        const bytes = bytesOf(events.map(({ wire }) => wire).join(""));
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
        const reader = new EventReader();
        const got = places.slice(1).flatMap((place, i) => reader.feed(bytes.slice(places[i], place)));
        let last: string | undefined;
        const due = sent.map(([data, id]) => {
          last = id ?? last;
          return { name: "tick", id: last, data: data.replace(/\r\n|\r/g, "\n"), retryMs: undefined };
        });
        expect(got).toEqual(due);
      }),
    );
  });
});

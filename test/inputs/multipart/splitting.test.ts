/** Values that were written are read again, and the place of a cut never changes the result. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundaryOf } from "../../../src/inputs/multipart.ts";
import { bodyOf, concatenated, cut, eventsOf, readBody, singly, utf8 } from "./reading.ts";
import { rounds } from "../../support/wide.ts";

interface Written {
  readonly name: string;
  readonly filename: string | undefined;
  readonly content: Uint8Array;
}

const bchars = "0123456789abcxyzABCXYZ'()+_,-./:=? ";
const boundaries = fc
  .string({ unit: fc.constantFrom(...bchars), minLength: 1, maxLength: 70 })
  .filter((boundary) => !boundary.endsWith(" "));

// A control character is refused, and the meaning of a backslash depends on the next character.
const names = fc
  .string({ unit: fc.oneof(fc.constantFrom(..."\";=%\r\n é日𝄞'()"), fc.string({ unit: "grapheme", maxLength: 1 })) })
  .filter((name) => !/[\\\x00-\x09\x0b\x0c\x0e-\x1f\x7f]|%(?:22|0D|0A)/.test(name));

// Consists of the characters of a delimiter, so that one begins often.
function contents(boundary: string): fc.Arbitrary<Uint8Array> {
  const delimiter = `\r\n--${boundary}`;
  const piece = fc.oneof(
    fc.constantFrom("\r", "\n", "-", "--", "\r\n", "\r\n--", boundary, `--${boundary}`, boundary.slice(1), "x"),
    fc.nat(delimiter.length - 1).map((end) => delimiter.slice(0, end)),
  );
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
  return fc
    .oneof(text.map(utf8), fc.uint8Array({ maxLength: 200 }))
    .filter((content) => !`\r\n${Buffer.from(content).toString("latin1")}`.includes(delimiter));
}

const bodies = boundaries.chain((boundary) => {
  const part = fc.record({
    name: names,
    filename: fc.option(names, { nil: undefined }),
    content: contents(boundary),
  });
  const preamble = contents(boundary);
  return fc.record({ boundary: fc.constant(boundary), preamble, parts: fc.array(part, { maxLength: 4 }) });
});

// As browsers write it (WHATWG HTML).
function written(boundary: string, { name, filename, content }: Written): Uint8Array {
  const escaped = (text: string): string => text.replace(/["\r\n]/g, encodeURIComponent);
  const file = filename === undefined ? "" : `; filename="${escaped(filename)}"`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"${file}\r\n\r\n`;
  return concatenated(utf8(head), content, utf8("\r\n"));
}

const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });
const placesIn = (bytes: Uint8Array, cuts: readonly number[]): number[] =>
  cuts.map((cut) => Math.round(cut * bytes.length));

describe("a multipart body", () => {
  it("is read as it was written, however it is cut", () => {
    fc.assert(
      fc.property(bodies, cuts, ({ boundary, preamble, parts }, cuts) => {
        const pieces = parts.map((part) => written(boundary, part));
        const bytes = concatenated(preamble, utf8("\r\n"), ...pieces, utf8(`--${boundary}--\r\n`));
        const read = readBody(cut(bytes, placesIn(bytes, cuts)), boundary, 100_000);
        expect(read.failed).toBeUndefined();
        expect(read.parts.map(({ head: { name, filename }, content }) => ({ name, filename, content }))).toEqual(parts);
      }),
      { numRuns: rounds(2000) },
    );
  });

  it("of random bytes is read the same however it is cut", () => {
    const disposition = 'Content-Disposition: form-data; name="a"';
    const piece = fc.oneof(
      fc.constantFrom(
        "--b",
        "--",
        "b",
        "\r\n",
        "\r",
        "\n",
        " ",
        "\r\n--b",
        "--b--",
        "\r\n\r\n",
        disposition,
        "X: y",
        "x",
      ),
      fc.constantFrom(`--b\r\n${disposition}\r\n\r\n`, "\r\n--b\r\n", "\r\n--b--"),
      fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
    );
    const anything = fc.array(piece, { maxLength: 20 }).map((pieces) => Buffer.from(pieces.join(""), "latin1"));
    fc.assert(
      fc.property(anything, cuts, fc.nat(200), (body, cuts, maxHead) => {
        const bytes = new Uint8Array(body);
        const atOnce = bodyOf(eventsOf([bytes], "b", maxHead));
        expect(bodyOf(eventsOf(cut(bytes, placesIn(bytes, cuts)), "b", maxHead))).toEqual(atOnce);
        expect(bodyOf(eventsOf(singly(bytes), "b", maxHead))).toEqual(atOnce);
      }),
      { numRuns: rounds(5000) },
    );
  });

  it("is read as the platform wrote it", async () => {
    // Undici writes no empty filename.
    const filenames = names.filter((name) => name !== "");
    const entry = fc.tuple(names, filenames, fc.uint8Array({ maxLength: 100 }));
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 4 }), async (entries) => {
        const form = new FormData();
        for (const [name, filename, content] of entries) {
          form.append(name, "text");
          form.append(name, new Blob([new Uint8Array(content)], { type: "image/png" }), filename);
        }
        const response = new Response(form);
        const boundary = boundaryOf(response.headers.get("content-type") ?? "");
        const { parts } = readBody([new Uint8Array(await response.arrayBuffer())], boundary);
        // The platform turns every line break in a name into CRLF.
        const sent = (text: string): string => text.replace(/\r\n?|\n/g, "\r\n");
        expect(parts.map(({ head: { name, filename }, content }) => [name, filename, content])).toEqual(
          entries.flatMap(([name, filename, content]) => [
            [sent(name), undefined, utf8("text")],
            [sent(name), filename, content],
          ]),
        );
      }),
    );
  });
});

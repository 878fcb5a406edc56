/** The cases of a multipart body (MP, FM-10), whole and in chunks. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MultipartReader } from "../../../src/inputs/multipart-parser.ts";
import { cut, eventsOf, latin1, readBody, shown, singly, utf8 } from "./reading.ts";
import { rows } from "./rows.ts";
import { rounds } from "../../support/wide.ts";

const head = 'Content-Disposition: form-data; name="a"; filename="f"\r\n';
const opened = `--b\r\n${head}\r\n`;

describe("a multipart body", () => {
  it.each(rows)("%s: %s", (_id, _what, body, expected) => {
    expect(shown(readBody([latin1(body)]))).toEqual(expected);
    expect(shown(readBody(singly(latin1(body))))).toEqual(expected);
  });

  it("MP-21: a boundary may have every allowed character", () => {
    const boundary = "----=_x'()+_,-./:=?";
    const body = utf8(`--${boundary}\r\n${head}\r\n--${boundary.slice(1)}\r\n--${boundary}--\r\n`);
    expect(shown(readBody([body], boundary))).toEqual([`a|f|text/plain|--${boundary.slice(1)}`]);
  });

  it("MP-22: is read the same however it is cut", () => {
    const cutRow = fc.constantFrom(...rows).chain(([, , body, expected]) => {
      const places = fc.array(fc.nat(body.length), { maxLength: 5 });
      return fc.record({ body: fc.constant(body), expected: fc.constant(expected), places });
    });
    fc.assert(
      fc.property(cutRow, ({ body, expected, places }) => {
        expect(shown(readBody(cut(latin1(body), places)))).toEqual(expected);
      }),
      { numRuns: rounds(1000) },
    );
  });
});

describe("the head of a part", () => {
  const maxHead = head.length + 2;
  const body = utf8(`${opened}\r\n--b--`);

  it("has its headers by their name in lower case", () => {
    const { parts } = readBody([utf8(`--b\r\nX-One: \t1 \r\n${head}x-one:2\r\nX-Two:\r\n\r\n\r\n--b--`)]);
    expect([...(parts[0]?.head.headers ?? [])]).toEqual([
      ["x-one", "1, 2"],
      ["content-disposition", 'form-data; name="a"; filename="f"'],
      ["x-two", ""],
    ]);
  });

  it("has the parameters of its content type", () => {
    const { parts } = readBody([utf8(`--b\r\n${head}Content-Type: Text/CSV; Header=present\r\n\r\n\r\n--b--`)]);
    expect(parts[0]?.head.contentType).toEqual({
      type: "text",
      subtype: "csv",
      parameters: new Map([["header", "present"]]),
    });
  });

  it.each([
    ["as long as it may be is read", maxHead, ["a|f|text/plain|"]],
    ["a byte longer is too long", maxHead - 1, "head_too_large"],
  ])("%s", (_what, maxHead, expected) => {
    expect(shown(readBody([body], "b", maxHead))).toEqual(expected);
    expect(shown(readBody(singly(body), "b", maxHead))).toEqual(expected);
  });

  it("is refused as soon as it is too long, whatever could follow", () => {
    const reader = new MultipartReader("b", { maxHead: 20 });
    reader.feed(utf8(`--b\r\n${"x".repeat(20)}`));
    expect(reader.next()).toBeUndefined();
    reader.feed(utf8("x"));
    expect(reader.next()).toMatchObject({ kind: "failed", reason: "head_too_large" });
  });

  it("has a limit of its own, independent of earlier heads", () => {
    const part = `--b\r\n${head}\r\none\r\n`;
    expect(readBody([utf8(`${part.repeat(100)}--b--`)], "b", maxHead).parts).toHaveLength(100);
  });
});

describe("the reader: content", () => {
  it.each(["z", "-z", " z", "\rz"])("ends a part only when the bytes are proven to be its boundary: %j", (rest) => {
    const kinds = eventsOf([utf8(`${opened}x\r\n--b${rest}`)]).map(({ kind }) => kind);
    expect(kinds).toEqual(["head", "content", "failed"]);
  });

  it("returns views of the bytes that it was given", () => {
    const content = new Uint8Array(1 << 16).fill(0x78);
    const told = eventsOf([utf8(opened), content, content, utf8("\r\n--b--")]).filter(({ kind }) => kind === "content");
    expect(told).toEqual([
      { kind: "content", bytes: content },
      { kind: "content", bytes: content },
    ]);
    expect(told.every((event) => event.kind === "content" && event.bytes.buffer === content.buffer)).toBe(true);
  });

  it("still finds the delimiter when the caller overwrites the content", () => {
    const reader = new MultipartReader("b", { maxHead: 100 });
    const contents: string[] = [];
    for (const piece of [`${opened}x\r\n-`, "y\r\n-", "z\r\n-", "-b--"]) {
      reader.feed(utf8(piece));
      for (let event = reader.next(); event !== undefined; event = reader.next()) {
        if (event.kind !== "content") continue;
        contents.push(new TextDecoder().decode(event.bytes));
        event.bytes.fill(0);
      }
    }
    expect(contents.join("")).toBe("x\r\n-y\r\n-z");
  });

  it("holds back only bytes that may begin a boundary", () => {
    const reader = new MultipartReader("b", { maxHead: 100 });
    let fed = 0;
    let told = 0;
    reader.feed(utf8(opened));
    reader.next();
    for (let i = 0; i < 10_000; i++) {
      reader.feed(utf8("\r\n--".slice(0, i % 5)));
      fed += i % 5;
      for (let event = reader.next(); event !== undefined; event = reader.next()) {
        told += event.kind === "content" ? event.bytes.length : 0;
      }
      expect(fed - told).toBeLessThan("\r\n--b".length);
    }
  });
});

describe("the reader: faults and end", () => {
  it("fails again on every read", () => {
    const reader = new MultipartReader("b", { maxHead: 100 });
    reader.feed(utf8("--bz\r\n--b--"));
    const failed = reader.next();
    expect(failed).toEqual({
      kind: "failed",
      reason: "malformed",
      detail: "a boundary is followed by something else",
    });
    reader.feed(utf8("--b--"));
    reader.end();
    expect([reader.next(), reader.next()]).toEqual([failed, failed]);
  });

  it("ends once, and skips all bytes that follow", () => {
    const reader = new MultipartReader("b", { maxHead: 100 });
    reader.feed(utf8("--b--"));
    expect([reader.next(), reader.next()]).toEqual([{ kind: "end" }, undefined]);
    reader.feed(utf8(opened));
    reader.end();
    expect(reader.next()).toBeUndefined();
  });

  it("waits for more bytes when it has none", () => {
    const reader = new MultipartReader("b", { maxHead: 100 });
    reader.feed(new Uint8Array(0));
    expect(reader.next()).toBeUndefined();
    reader.feed(utf8("--b--"));
    expect(reader.next()).toEqual({ kind: "end" });
  });

  it("accepts no bytes before the previous ones are read", () => {
    const reader = new MultipartReader("b", { maxHead: 100 });
    reader.feed(utf8(opened));
    expect(() => reader.feed(utf8("x"))).toThrow("MultipartReader was fed before it had read what it has.");
  });

  it.each([
    ["x", "the body has no line of the boundary that its header names"],
    ["x\r\n--b", "the body ends before its last boundary"],
    ["--b\r\nX", "the body ends in the head of a part"],
    [`${opened}x`, "the body ends before its last boundary"],
    ["--b\r\n\xff: x\r\n\r\n", "the head of a part is no UTF-8"],
    ["--b\r\nX\r\n\r\n", "a line in the head of a part is malformed"],
    ["--b\r\nX: x\r\n\r\n", "a part has no Content-Disposition of form-data"],
    ["--b\r\nContent-Disposition: form-data\r\n\r\n", "a part has no name"],
  ])("%j fails: %s", (body, detail) => {
    expect(readBody([latin1(body)]).failed).toEqual({ kind: "failed", reason: "malformed", detail });
  });
});

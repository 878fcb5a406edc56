import fc from "fast-check";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { Answer, App, Path, Returns, get } from "usher-http";
import type { Route } from "usher-http";
import { Conditional } from "usher-http/conditional";
import { eventually } from "../support/eventually.ts";
import { logWith, messages } from "../support/logs.ts";
import { start } from "../support/node-server.ts";
import { RawClient } from "../support/raw-client.ts";

const changedAt = new Date("2026-11-20T12:00:00Z");
const D = "Fri, 20 Nov 2026 12:00:00 GMT";
const T = '"v1"';
const content = new TextEncoder().encode("ALPHABET");
const both = { etag: "v1", lastModified: changedAt, contentType: "text/plain" };

/** What was opened of a source, and how many of those are closed. */
function sourceOf(bytes: Uint8Array, size = 3) {
  const opened: string[] = [];
  const state = { opened, closed: 0 };
  async function* read(first: number, last: number): AsyncGenerator<Uint8Array> {
    opened.push(`${first}-${last}`);
    try {
      for (let at = first; at <= last; at += size) yield bytes.subarray(at, Math.min(at + size, last + 1));
    } finally {
      state.closed++;
    }
  }
  return { source: { length: bytes.byteLength, read }, state };
}
const streamed = (bytes: Uint8Array): Conditional.RangedSource => ({
  length: bytes.byteLength,
  read: (first, last) => new Blob([bytes.slice(first, last + 1)]).stream(),
});
const kinds: readonly (readonly [kind: string, make: (bytes: Uint8Array) => Uint8Array | Conditional.RangedSource])[] =
  [
    ["bytes", (bytes) => bytes],
    ["an iterable", (bytes) => sourceOf(bytes).source],
    ["a ReadableStream", streamed],
  ];

async function ask(
  of: Uint8Array | Conditional.RangedSource,
  headers: Record<string, string>,
  { method = "GET", options = both }: { method?: string; options?: Conditional.RangedOptions } = {},
) {
  const route = get(Path.root, { returns: Returns.response }, () => Conditional.ranged(of, options));
  const response = await App.make([route]).fetch(new Request("http://localhost/", { method, headers }));
  const { status } = response;
  return { status, headers: response.headers, body: await response.text() };
}

type Row = readonly [id: string, headers: Record<string, string>, status: number, body: string, range: string | null];

describe.each(kinds)("a file of eight bytes, of %s", (_kind, make) => {
  it.each<Row>([
    ["the whole", {}, 200, "ALPHABET", null],
    ["CR-06", { range: "pages=1-2" }, 200, "ALPHABET", null],
    ["CR-07", { range: "bytes=4-2" }, 200, "ALPHABET", null],
    ["CR-10", { range: "bytes=2-4", "if-range": '"other"' }, 200, "ALPHABET", null],
    ["CR-12", { range: "bytes=2-4", "if-none-match": T }, 304, "", null],
    ["CR-24", { range: "bytes=-3" }, 206, "BET", "bytes 5-7/8"],
    ["CR-25", { range: "bytes=5-" }, 206, "BET", "bytes 5-7/8"],
    ["CR-27", { range: "bytes=2-4", "if-range": D }, 206, "PHA", "bytes 2-4/8"],
    ["CR-28", { range: "bytes=8-" }, 416, "", "bytes */8"],
    ["first and last", { range: "bytes=2-4" }, 206, "PHA", "bytes 2-4/8"],
    ["one byte", { range: "bytes=0-0" }, 206, "A", "bytes 0-0/8"],
    ["past the end", { range: "bytes=6-99999999999999999999" }, 206, "ET", "bytes 6-7/8"],
    ["more than all", { range: "bytes=-99" }, 206, "ALPHABET", "bytes 0-7/8"],
    ["none at the end", { range: "bytes=-0" }, 416, "", "bytes */8"],
    ["one of two", { range: "bytes=100-,0-1" }, 206, "AL", "bytes 0-1/8"],
    ["overlapping", { range: "bytes=0-4,2-6" }, 206, "ALPHABE", "bytes 0-6/8"],
    ["near each other", { range: "bytes=6-7,0-1" }, 206, "ALPHABET", "bytes 0-7/8"],
    ["of this tag", { range: "bytes=2-4", "if-range": T }, 206, "PHA", "bytes 2-4/8"],
    ["of a weak tag", { range: "bytes=2-4", "if-range": `W/${T}` }, 200, "ALPHABET", null],
    ["of several tags", { range: "bytes=2-4", "if-range": `${T}, ${T}` }, 200, "ALPHABET", null],
    ["of any", { range: "bytes=2-4", "if-range": "*" }, 200, "ALPHABET", null],
    ["of a later date", { range: "bytes=2-4", "if-range": "Fri, 20 Nov 2026 12:00:01 GMT" }, 200, "ALPHABET", null],
    ["of a text", { range: "bytes=2-4", "if-range": "v1" }, 200, "ALPHABET", null],
    ["of a match", { range: "bytes=2-4", "if-match": T }, 206, "PHA", "bytes 2-4/8"],
    ["of no match", { range: "bytes=2-4", "if-match": '"other"' }, 412, "", null],
    ["no range", { range: "bytes=" }, 200, "ALPHABET", null],
  ])("%s: %j is %i %j", async (_id, headers, status, body, range) => {
    const answered = await ask(make(content), headers);
    expect([answered.status, answered.headers.get("content-range")]).toEqual([status, range]);
    if (status !== 412 && status !== 416) expect(answered.body).toBe(body);
    if (status === 416) expect(JSON.parse(answered.body)).toMatchObject({ error: "range_not_satisfiable" });
    expect(answered.headers.get("accept-ranges")).toBe(status === 304 || status === 412 ? null : "bytes");
    if (status === 206) {
      const { headers } = answered;
      const told = ["content-type", "content-length", "etag", "last-modified"].map((name) => headers.get(name));
      expect(told).toEqual(["text/plain", String(body.length), T, D]);
    }
    // RFC 9110 §14.2: a Range has no meaning but to GET (CR-09).
    const toHead = await ask(make(content), headers, { method: "HEAD" });
    const wholeLength = toHead.status === 200 ? "8" : null;
    expect([toHead.status, toHead.body]).toEqual([status === 206 || status === 416 ? 200 : status, ""]);
    if (toHead.status === 200) expect(toHead.headers.get("content-length")).toBe(wholeLength);
  });

  it("has no range without bytes", async () => {
    const answered = await ask(make(new Uint8Array()), { range: "bytes=0-0" });
    expect([answered.status, answered.body, answered.headers.get("content-length")]).toEqual([200, "", "0"]);
  });

  it("sends the bytes of any valid ranges", async () => {
    const bytes = Uint8Array.from({ length: 1000 }, (_, i) => 33 + (i % 90));
    const text = new TextDecoder().decode(bytes);
    const range = fc.oneof(
      fc.tuple(fc.nat(1200), fc.nat(400)).map(([first, more]) => `${first}-${first + more}`),
      fc.nat(1200).map((first) => `${first}-`),
      fc.nat(1200).map((suffix) => `-${suffix}`),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(range, { minLength: 1, maxLength: 5 }), async (ranges) => {
        const { status, headers, body } = await ask(make(bytes), { range: `bytes=${ranges.join(",")}` });
        if (status === 416) return;
        expect(status).toBe(206);
        expect(headers.get("content-length")).toBe(String(body.length));
        const sent = partsOf(headers, body);
        for (const { first, last, bytes } of sent) expect(bytes).toBe(text.slice(first, last + 1));
        for (const asked of ranges) {
          const [first, last] = wanted(asked, 1000);
          if (first > last) continue;
          expect(sent.some((part) => part.first <= first && last <= part.last)).toBe(true);
        }
        expect(sent.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThanOrEqual(1000);
      }),
      { numRuns: 100 },
    );
  });
});

function wanted(range: string, length: number): readonly [first: number, last: number] {
  const [first = "", last = ""] = range.split("-");
  if (first === "") return [Math.max(0, length - Number(last)), length - 1];
  return [Number(first), Math.min(last === "" ? length - 1 : Number(last), length - 1)];
}

/** Reads a 206 as a client does. */
function partsOf(headers: Headers, body: string): { first: number; last: number; bytes: string }[] {
  const type = headers.get("content-type") as string;
  if (!type.startsWith("multipart/byteranges")) return [partOf(headers.get("content-range") as string, body)];
  const boundary = type.split("boundary=")[1] as string;
  const pieces = body.split(`\r\n--${boundary}`);
  expect([pieces[0], pieces.at(-1)]).toEqual(["", "--\r\n"]);
  return pieces.slice(1, -1).map((piece) => {
    const end = piece.indexOf("\r\n\r\n");
    const head = piece.slice(0, end).split("\r\n");
    expect(head.slice(0, 2)).toEqual(["", "Content-Type: text/plain"]);
    return partOf((head[2] as string).replace("Content-Range: ", ""), piece.slice(end + 4));
  });
}

function partOf(range: string, bytes: string) {
  const [, first = "", last = ""] = /^bytes (\d+)-(\d+)\/1000$/.exec(range) ?? [];
  expect(bytes).toHaveLength(Number(last) - Number(first) + 1);
  return { first: Number(first), last: Number(last), bytes };
}

describe("several ranges", () => {
  const bytes = new Uint8Array(100_000).fill(97);

  it("are parts in the order of the request", async () => {
    const { status, headers, body } = await ask(new Uint8Array(1000).fill(97), { range: "bytes=900-909,0-9,500-509" });
    expect(status).toBe(206);
    expect(partsOf(headers, body).map(({ first }) => first)).toEqual([900, 0, 500]);
    expect(headers.get("content-range")).toBeNull();
  });

  it.each([
    [50, 206],
    [51, 200],
    [400, 200],
  ])("are the whole file above 50 parts: %i", async (count, status) => {
    const ranges = Array.from({ length: count }, (_, i) => `${i * 200}-${i * 200}`);
    expect((await ask(bytes, { range: `bytes=${ranges.join(",")}` })).status).toBe(status);
  });

  it("of one byte ten thousand times is that byte", async () => {
    const { source, state } = sourceOf(bytes);
    const answered = await ask(source, { range: `bytes=${"7-7,".repeat(10_000)}` });
    expect([answered.status, answered.body, state.opened]).toEqual([206, "a", ["7-7"]]);
  });
});

describe("a source", () => {
  it("is opened for the bytes that are sent, and closed", async () => {
    const { source, state } = sourceOf(new Uint8Array(1000).fill(97));
    await ask(source, {}, { method: "HEAD" });
    await ask(source, { "if-none-match": T });
    await ask(source, { "if-match": '"other"' });
    await ask(source, { range: "bytes=1000-" });
    expect(state).toEqual({ opened: [], closed: 0 });
    await ask(source, { range: "bytes=0-1,500-501" });
    await ask(source, {});
    expect(state).toEqual({ opened: ["0-1", "500-501", "0-999"], closed: 3 });
  });

  it.each([
    ["bytes=0-9", 1],
    ["bytes=0-9,500-509", 2],
  ])("with fewer or more bytes than requested ends the connection: %s", async (range, opened) => {
    logWith({ level: "error" });
    for (const wrong of [5, 20]) {
      let count = 0;
      let closed = 0;
      const read = async function* () {
        count++;
        try {
          // Of two, the last is wrong: the first is sent.
          yield new Uint8Array(count < opened ? 10 : wrong);
        } finally {
          closed++;
        }
      };
      const route = get(Path.root, { returns: Returns.response }, () =>
        Conditional.ranged({ length: 1000, read }, { etag: "v1" }),
      );
      const client = await RawClient.to((await start([route])).port);
      client.ask("GET /", [`Range: ${range}`]);
      await client.closed();
      expect(count).toBe(opened);
      await eventually(() => expect(closed).toBe(opened));
    }
    expect(messages("error")).toHaveLength(2);
  });

  it("is closed when the client disconnects in the middle", async () => {
    const { source, state } = sourceOf(new Uint8Array(50_000_000), 65_536);
    const route = get(Path.root, { returns: Returns.response }, () => Conditional.ranged(source, both));
    const { port } = await start([route]);
    for (const range of ["bytes=0-", "bytes=0-20000000,40000000-"]) {
      const client = await RawClient.to(port);
      client.ask("GET /", [`Range: ${range}`]);
      await once(client.socket, "data");
      client.leave();
    }
    await eventually(() => expect([state.opened.length, state.closed]).toEqual([2, 2]));
  });

  it("whose read throws at once is a 500", async () => {
    logWith({ level: undefined });
    const read = () => {
      throw new Error("no");
    };
    expect((await ask({ length: 8, read }, {})).status).toBe(500);
    expect((await ask({ length: 8, read }, { range: "bytes=0-1" })).status).toBe(500);
    expect((await ask({ length: 8, read }, {}, { method: "HEAD" })).status).toBe(200);
  });
});

it("a source that is a ReadableStream is cancelled when the client disconnects in the middle", async () => {
  let cancelled = 0;
  const read = () =>
    new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
      cancel: () => void cancelled++,
    });
  const source = { length: 50_000_000, read };
  const route = get(Path.root, { returns: Returns.response }, () => Conditional.ranged(source, both));
  const { port } = await start([route]);
  for (const range of ["bytes=0-40000000", "bytes=0-20000000,40000000-"]) {
    const client = await RawClient.to(port);
    client.ask("GET /", [`Range: ${range}`]);
    await once(client.socket, "data");
    client.leave();
  }
  await eventually(() => expect(cancelled).toBe(2));
});

describe.each<readonly [how: string, route: Route]>([
  [
    "an input",
    get(Path.root, { inputs: { validators: Conditional.validators }, returns: Returns.response }, ({ validators }) => {
      validators(both);
      return Conditional.ranged(content);
    }),
  ],
  [
    "Conditional.answer",
    get(Path.root, { returns: Returns.response }, () => Conditional.answer(Conditional.ranged(content), both)),
  ],
  [
    "both together",
    get(Path.root, { inputs: { validators: Conditional.validators }, returns: Returns.response }, ({ validators }) => {
      validators({ lastModified: changedAt });
      return Conditional.ranged(content, { etag: "v1" });
    }),
  ],
])("content with ranges, whose version is %s", (_how, route) => {
  it.each<readonly [headers: Record<string, string>, status: number, body: string | undefined]>([
    [{ "if-match": T }, 200, "ALPHABET"],
    [{ "if-match": '"other"' }, 412, undefined],
    [{ "if-none-match": T }, 304, ""],
    [{ range: "bytes=0-1" }, 206, "AL"],
    [{ range: "bytes=0-1", "if-match": T }, 206, "AL"],
    [{ range: "bytes=0-1", "if-none-match": T }, 304, ""],
    [{ range: "bytes=0-1", "if-modified-since": D }, 304, ""],
    [{ range: "bytes=0-1", "if-range": T }, 206, "AL"],
    [{ range: "bytes=0-1", "if-range": D }, 206, "AL"],
    [{ range: "bytes=0-1", "if-range": '"other"' }, 200, "ALPHABET"],
  ])("%j is %i", async (headers, status, body) => {
    const response = await App.make([route]).fetch(new Request("http://localhost/", { headers }));
    const text = await response.text();
    expect([response.status, body ?? text]).toEqual([status, text]);
  });
});

it("an answer whose body middleware replaced has no ranges, and no conditions of the old body", async () => {
  const route = get(Path.root, { returns: Returns.response }, () => Conditional.ranged(content, both));
  const app = App.make([route], {
    middleware: [async (_request, next) => ({ ...(await next()), body: "another body" })],
  });
  const fetched = async (headers: Record<string, string>) => {
    const response = await app.fetch(new Request("http://localhost/", { headers }));
    return [response.status, await response.text()];
  };
  expect(await fetched({ range: "bytes=0-1" })).toEqual([200, "another body"]);
  expect(await fetched({ "if-none-match": T })).toEqual([304, ""]);
});

it.each<readonly [content: unknown, options: unknown]>([
  [undefined, {}],
  ["text", {}],
  [{}, {}],
  [{ length: -1, read: () => content }, {}],
  [{ length: 0.5, read: () => content }, {}],
  [{ length: 1 }, {}],
  [content, null],
  [content, "v1"],
  [content, { etag: "a b" }],
  [content, { lastModified: "now" }],
])("wrong arguments are refused with a message: %#", (content, options) => {
  expect(() => Conditional.ranged(content as never, options as never)).toThrow(
    /^Conditional\.ranged: .+ is .+, and not .+$/,
  );
});

it("is application/octet-stream without a type", async () => {
  const { headers } = await ask(content, {}, { options: {} });
  expect(headers.get("content-type")).toBe("application/octet-stream");
  expect(Answer.make("").contentType).toBe("text/plain; charset=utf-8");
});

describe("a download with a name", () => {
  it.each([
    ["the whole", {}, 200],
    ["a part", { range: "bytes=0-1" }, 206],
  ])("%s has it", async (_what, headers, status) => {
    const options = { ...both, download: "docs/Überblick.pdf" };
    const got = await ask(content, headers, { options });
    const name = `attachment; filename="__berblick.pdf"; filename*=UTF-8''%C3%9Cberblick.pdf`;
    expect([got.status, got.headers.get("content-disposition")]).toEqual([status, name]);
  });
});

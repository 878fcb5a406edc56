/** `download` of `Answer.make` and `Answer.stream`: a file's name in `Content-Disposition` (RFC 6266, RFC 8187). */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Answer, Path, Returns, Test, get } from "usher-http";

async function headerOf(make: (name: string) => Answer, name: string): Promise<string | undefined> {
  const app = Test.app([get(Path.root, { returns: Returns.response }, () => make(name))]);
  const { status, headers } = await Test.call(app, "GET", "/");
  expect(status).toBe(200);
  return headers.get("content-disposition") ?? undefined;
}

const made = (name: string): Answer => Answer.make("a,b\n", { contentType: "text/csv", download: name });
const streamed = (name: string): Answer => Answer.stream(new Blob(["a"]).stream(), { download: name });

/** The name as a client reads it: `filename*` before `filename` (RFC 6266 §4.3). */
function nameIn(header: string): string {
  const extended = /; filename\*=UTF-8''([A-Za-z0-9!#$&+.^_`|~%-]*)$/.exec(header)?.[1];
  if (extended !== undefined) return decodeURIComponent(extended);
  return /^attachment; filename="([\x20-\x7e]*)"$/.exec(header)?.[1] ?? "";
}

describe.each([
  ["Answer.make", made],
  ["Answer.stream", streamed],
])("%s", (_, make) => {
  it.each([
    ["orders.csv", 'attachment; filename="orders.csv"'],
    ["Übersicht 2026.csv", `attachment; filename="__bersicht 2026.csv"; filename*=UTF-8''%C3%9Cbersicht%202026.csv`],
    ['a"b\\c.csv', `attachment; filename="a_b_c.csv"; filename*=UTF-8''a%22b%5Cc.csv`],
    ["a\r\nset-cookie: b=1", `attachment; filename="a__set-cookie: b=1"`],
    ["../../etc/passwd", 'attachment; filename="passwd"'],
    ["cod\u202Efdp.exe", 'attachment; filename="cod_fdp.exe"'],
    ["\uD800.csv", `attachment; filename="___.csv"; filename*=UTF-8''%EF%BF%BD.csv`],
    ["", "attachment"],
  ])("%j", async (name, header) => {
    expect(await headerOf(make, name)).toBe(header);
  });
});

it("any name is a header that a client reads back", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", minLength: 1, maxLength: 40 }), async (name) => {
      const header = (await headerOf(made, name)) ?? "";
      expect(header).toMatch(
        /^attachment(?:; filename="[^"\\\x7f-\uffff\x00-\x1f]*"(?:; filename\*=UTF-8''[\x21-\x7e]*)?)?$/,
      );
      const kept = name
        .slice(name.lastIndexOf("/") + 1)
        .replaceAll(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, "_");
      expect(nameIn(header)).toBe(kept);
    }),
  );
});

it("stands next to headers of the program's own, and is a text", async () => {
  const app = Test.app([
    get(Path.root, { returns: Returns.response }, () =>
      Answer.make("a", { download: "a.txt", headers: [["x-own", "1"]] }),
    ),
  ]);
  const { headers } = await Test.call(app, "GET", "/");
  expect(headers.get("x-own")).toBe("1");
  expect(headers.get("content-disposition")).toBe('attachment; filename="a.txt"');
  expect(() => Answer.make("a", { download: true as never })).toThrow(
    "Answer.make: download is a boolean, and not a text",
  );
});

/** The path that middleware compares: it is read as the router reads it, however it is written. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Answer, Path, Returns, Test, get, param } from "usher-http";
import type { Middleware, MiddlewareRequest } from "usher-http";
import "../support/logs.ts";

const file = Path.rest("file");
const every = get(Path.of(file), { inputs: { file: param(file) }, returns: Returns.text }, ({ file }) =>
  JSON.stringify(file),
);
const users = get(Path.of("admin", "users"), { returns: Returns.text }, () => "every user");

/** What middleware sees of a target, and what the routes answered. */
async function seen<A>(look: (request: MiddlewareRequest) => A, target: string): Promise<readonly [A, string]> {
  let looked: A | undefined;
  const spy: Middleware = (request, next) => {
    looked = look(request);
    return next();
  };
  const { body } = await Test.call(Test.app([users, every], { middleware: [spy] }), "GET", target);
  return [looked as A, body];
}

describe("a request has its path decoded, by segments, and as it was sent", () => {
  it.each<readonly [what: string, rawPath: string, path: string, segments: readonly string[]]>([
    ["the root", "/", "/", []],
    ["plain", "/admin/users", "/admin/users", ["admin", "users"]],
    ["an encoded letter", "/%61dmin/users", "/admin/users", ["admin", "users"]],
    ["hex in either case", "/%6a%6A", "/jj", ["jj"]],
    ["text of UTF-8", "/%e4%b8%96/%F0%9F%8C%8D", "/世/🌍", ["世", "🌍"]],
    ["a slash inside of a segment", "/a%2fb/c", "/a%2Fb/c", ["a/b", "c"]],
    ["a percent sign", "/100%25/a", "/100%25/a", ["100%", "a"]],
    ["encoded twice", "/a%252Fb", "/a%252Fb", ["a%2Fb"]],
    ["encoded twice, a letter", "/%2561dmin", "/%2561dmin", ["%61dmin"]],
    ["encoded three times", "/%252561", "/%252561", ["%2561"]],
    ["dot segments", "/a/../b/./c", "/a/../b/./c", ["a", "..", "b", ".", "c"]],
    ["encoded dot segments", "/a/%2e%2E/.%2e", "/a/../..", ["a", "..", ".."]],
    ["a semicolon", "/a;v=1/b%3Bc", "/a;v=1/b;c", ["a;v=1", "b;c"]],
    ["a backslash", "/a\\b/c%5cd", "/a\\b/c\\d", ["a\\b", "c\\d"]],
    ["an overlong letter", "/%C1%A1dmin", "/%C1%A1dmin", ["%C1%A1dmin"]],
    ["an overlong slash", "/a%c0%afb", "/a%c0%afb", ["a%c0%afb"]],
    ["half of a surrogate pair", "/%ED%A0%80", "/%ED%A0%80", ["%ED%A0%80"]],
    ["no UTF-8 beside what is", "/%ff/%61", "/%ff/a", ["%ff", "a"]],
    ["a broken escape", "/%/%6/%zz/%61", "/%/%6/%zz/a", ["%", "%6", "%zz", "a"]],
    ["a plus", "/a+b%2B", "/a+b+", ["a+b+"]],
    ["a question mark and a hash, encoded", "/a%3fb%23c", "/a?b#c", ["a?b#c"]],
    ["control characters", "/%00%0d%0a", "/\0\r\n", ["\0\r\n"]],
    ["a slash at the end", "/%61/", "/a/", ["a", ""]],
    ["empty segments", "//%61//b", "//a//b", ["", "a", "", "b"]],
    ["another form of target", "*", "*", []],
    ["an authority", "h:80", "h:80", []],
  ])("%s: %s", async (_what, rawPath, path, segments) => {
    const [looked] = await seen((request) => [request.rawPath, request.path, request.segments], `${rawPath}?q=%61`);
    expect(looked).toEqual([rawPath, path, segments]);
  });

  it("of an absolute target it is the path", async () => {
    const [looked] = await seen(({ rawPath, path }) => [rawPath, path], "http://h.example/%61?x");
    expect(looked).toEqual(["/%61", "/a"]);
  });

  it("no middleware changes the segments that the next one sees", async () => {
    const [looked] = await seen((request) => {
      expect(() => (request.segments as string[]).pop()).toThrow(TypeError);
      return request.segments;
    }, "/admin/users");
    expect(looked).toEqual(["admin", "users"]);
  });
});

/** A path in one of its spellings: any character of a segment may be percent-encoded. */
const spelled = fc
  .array(
    fc.array(fc.tuple(fc.constantFrom("a", "d", "é", "/", "%", ".", ";", "\\", "2", "F"), fc.nat(2)), { minLength: 1 }),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((segments) => ({
    segments: segments.map((signs) => signs.map(([sign]) => sign).join("")),
    raw: segments.map((signs) => `/${signs.map(([sign, how]) => written(sign, how)).join("")}`).join(""),
  }));

function written(sign: string, how: number): string {
  if (how === 0 && !["/", "%", "é"].includes(sign)) return sign;
  const hex = [...new TextEncoder().encode(sign)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  return how === 1 ? hex : hex.toUpperCase();
}

describe("middleware and router read one path", () => {
  it("the segments are what a rest captures", async () => {
    await fc.assert(
      fc.asyncProperty(spelled, async ({ segments, raw }) => {
        const [looked, body] = await seen((request) => request.segments, raw);
        expect(looked).toEqual(segments);
        expect(body).toBe(JSON.stringify(segments));
      }),
    );
  });

  it("paths are equal where their segments are, and only there", async () => {
    await fc.assert(
      fc.asyncProperty(spelled, spelled, async (one, other) => {
        const [[path], [otherPath]] = [
          await seen(({ path }) => path, one.raw),
          await seen(({ path }) => path, other.raw),
        ];
        expect(path === otherPath).toBe(JSON.stringify(one.segments) === JSON.stringify(other.segments));
        expect(path.split("/").length - 1).toBe(one.segments.length);
      }),
    );
  });

  it("no spelling of a guarded route passes its guard", async () => {
    const byPath: Middleware = ({ path }, next) => (path.startsWith("/admin") ? Answer.make("guarded") : next());
    const bySegment: Middleware = ({ segments }, next) => (segments[0] === "admin" ? Answer.make("guarded") : next());
    const byPattern: Middleware = ({ route }, next) =>
      route?.pattern.startsWith("/admin") === true ? Answer.make("guarded") : next();
    const hows = fc.array(fc.nat(2), { minLength: 10, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(hows, async (hows) => {
        const letters = [..."adminusers"].map((sign, i) => written(sign, hows[i] as number));
        const target = `/${letters.slice(0, 5).join("")}/${letters.slice(5).join("")}`;
        expect((await Test.call(Test.app([users, every]), "GET", target)).body).toBe("every user");
        for (const guard of [byPath, bySegment, byPattern]) {
          const app = Test.app([users, every], { middleware: [guard] });
          expect((await Test.call(app, "GET", target)).body).toBe("guarded");
        }
      }),
    );
  });
});

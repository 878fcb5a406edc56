/** Headers that no handler may set: the answer is a 500, and nothing of it is sent (contract 4.3 rule 4; rows AN-09 to AN-13). */
import { describe, expect, it } from "vitest";
import { Answer, Codec, Cookie, Path, Refusal, Returns, Test, addHeader, get, refuse, setCookie } from "usher-http";
import type { Route } from "usher-http";
import { internal } from "../support/refusals.ts";
import { lines, messages } from "../support/logs.ts";

const owned = [
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "te",
  "trailer",
  "content-type",
  "set-cookie",
  "date",
  "x-request-id",
];
const cased = (name: string) => name.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase());
const value = "s3cret";

type Pair = readonly [name: string, value: string];
const builds = (...headers: readonly Pair[]) =>
  get(Path.of("x"), { returns: Returns.response }, () => Answer.make("handled", { headers }));
const adds = (...headers: readonly Pair[]) =>
  get(Path.of("x"), { inputs: { addHeader }, returns: Returns.text }, ({ addHeader }) => {
    for (const [name, value] of headers) addHeader(name, value);
    return "handled";
  });

/** Expects a 500 whose log line has the reason, without the value and without the handler's own answer. */
const wrongValue = (name: string): string =>
  `a header that cannot be written: "${name}": its value has a line break, a control character or what is not ASCII: percent-encode it, or leave the header out`;

async function stopped(route: Route, why: string): Promise<void> {
  const { status, body, headers } = await Test.call(Test.app([route]), "GET", "/x");
  expect([status, body, headers.get("content-type")]).toEqual([500, internal, "application/json"]);
  expect([...headers.keys()].toSorted()).toEqual(["content-length", "content-type", "x-request-id"]);
  expect(headers.get("content-length")).toBe(String(internal.length));
  expect(messages("error")).toEqual([`GET /x: internal: ${why}`]);
  expect(lines().at(-1)).toMatchObject({ message: "GET /x 500", "framework.refusal.code": "internal" });
  expect(JSON.stringify(lines())).not.toContain(value);
}

describe("a header only the framework writes", () => {
  it.each(owned.flatMap((name) => [name, cased(name), name.toUpperCase()]))("AN-09, AN-10 %s", async (name) => {
    const why = `a header only the framework writes: ${JSON.stringify(name)}`;
    await stopped(builds(["x-fine", value], [name, value]), why);
  });

  it.each(owned)("AN-10 %s, added by the handler", async (name) => {
    await stopped(adds([name, value]), `a header only the framework writes: ${JSON.stringify(name)}`);
  });

  it("AN-09 Upgrade is allowed on a 426, where it names the protocol that the server accepts", async () => {
    const route = get(Path.of("x"), { returns: Returns.response }, () =>
      Answer.empty({ status: 426, headers: [["Upgrade", "echo/1"]] }),
    );
    const { status, headers } = await Test.call(Test.app([route]), "GET", "/x");
    expect([status, headers.get("upgrade")]).toEqual([426, "echo/1"]);
  });

  it("AN-09 is refused in a standard Response too", async () => {
    for (const name of ["content-length", "connection", "date"]) {
      const route = get(
        Path.of("x"),
        { returns: Returns.response },
        () => new Response("handled", { headers: { [name]: value } }),
      );
      expect((await Test.call(Test.app([route]), "GET", "/x")).body).toBe(internal);
    }
  });
});

describe("a header whose bytes are not allowed", () => {
  const values = [
    "a\nb",
    "a\rb",
    "a\r\nset-cookie: x=1",
    "\u0000",
    "\u0001",
    "\u001f",
    "\u007f",
    "é",
    "\u0080",
    "🙂",
    "\ud800",
    "\n",
  ];
  it.each(values)("AN-12 the value %j", async (text) => {
    await stopped(builds(["x-mine", `${text}${value}`]), wrongValue("x-mine"));
  });
  it.each(values)("AN-12 the value %j, added", async (text) => {
    await stopped(adds(["x-fine", "1"], ["x-mine", text]), wrongValue("x-mine"));
  });

  it.each(["", " ", "x y", "x:", "x\r\ny", "é", "(x)", "x\u0000"])("AN-12 the name %j", async (name) => {
    await stopped(builds([name, value]), "a header that cannot be written: (unknown)");
  });
  it.each(["", "x y"])("AN-12 the name %j, added", async (name) => {
    await stopped(adds([name, value]), "a header that cannot be written: (unknown)");
  });

  it.each(["a\r\nx: y", "é/b", ""])("AN-12 the content type %j", async (contentType) => {
    const route = get(Path.of("x"), { returns: Returns.response }, () => Answer.make("handled", { contentType }));
    const empty = 'a header that cannot be written: "content-type": it is empty';
    await stopped(route, contentType === "" ? empty : wrongValue("content-type"));
  });

  it("AN-12 the Location of a redirect", async () => {
    const route = get(Path.of("x"), { returns: Returns.response }, () => Answer.redirect("/a\r\nset-cookie: x=1"));
    await stopped(route, wrongValue("location"));
  });

  it("AN-12 a challenge", async () => {
    const code = Refusal.code("nobody", { status: 401, doc: "Nobody.", challenge: "Bearer\nx" });
    // Undeclared, because App.make would refuse it.
    const route = get(Path.of("x"), { returns: Returns.text }, () => {
      throw refuse(code);
    });
    expect((await Test.call(Test.app([route]), "GET", "/x")).body).toBe(internal);
  });

  it.each(["", "a b", "\ta\t", "~!@#$%^&*()", 'a, b; c="d"'])("AN-12 any visible text is allowed: %j", async (text) => {
    const { status, headers } = await Test.call(Test.app([adds(["x-mine", text])]), "GET", "/x");
    expect([status, headers.get("x-mine")]).toEqual([200, text.trim()]);
  });
});

describe("a cookie that Cookie.make did not make", () => {
  it.each([{ value: "a\r\nx: 1" }, { name: "a\nb" }, { path: "/\r\nx: 1" }, { value: "é" }])(
    "AN-12 %j",
    async (odd) => {
      const cookie = { ...Cookie.make(Cookie.named("k", Codec.string), "v"), ...odd };
      const built = get(Path.of("x"), { returns: Returns.response }, () => Answer.make("", { cookies: [cookie] }));
      const set = get(Path.of("x"), { inputs: { setCookie }, returns: Returns.text }, ({ setCookie }) => {
        setCookie(cookie);
        return "";
      });
      for (const route of [built, set]) expect((await Test.call(Test.app([route]), "GET", "/x")).body).toBe(internal);
    },
  );
});

describe("a status that is not final", () => {
  it.each([1000, 103, 101, 100, 199, 600, 0, -200, 200.5, Number.NaN])("AN-13 %d", async (status) => {
    const route = get(Path.of("x"), { returns: Returns.response }, () => Answer.make("handled", { status }));
    await stopped(route, `${status}, which is not a final status`);
  });

  it("AN-13 Response.error() has no status", async () => {
    const route = get(Path.of("x"), { returns: Returns.response }, () => Response.error());
    await stopped(route, "0, which is not a final status");
  });
});

it("a platform stream is cancelled when its answer is not sent", async () => {
  const cancelled = new Promise<string>((resolve) => {
    const body = new ReadableStream({ cancel: () => resolve("cancelled") });
    const route = get(Path.of("x"), { returns: Returns.response }, () =>
      Answer.stream(body, { headers: [["te", value]] }),
    );
    void Test.call(Test.app([route]), "GET", "/x");
  });
  expect(await cancelled).toBe("cancelled");
});

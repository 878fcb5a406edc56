/** Headers and cookies of a handler: sent with Ok only, if set before the answer is made (contract 4.3; AN-03, AN-07, IN-36). */
import { describe, expect, it } from "vitest";
import {
  Answer,
  Codec,
  Cookie,
  Dep,
  Path,
  Query,
  Refusal,
  Returns,
  Test,
  addHeader,
  get,
  post,
  refuse,
  setCookie,
} from "usher-http";
import type { SetCookie } from "usher-http";
import { messages } from "../support/logs.ts";

const seen = Cookie.named("seen", Codec.int);
const gone = Refusal.code("gone", { status: 410, doc: "It went." });
const fail = Query.optional("fail", Codec.enum("how", ["return", "throw", "raise", "header", "unwritable"]));
const inputs = { setCookie, addHeader, fail };

const route = get(
  Path.of("x"),
  { inputs, returns: Returns.text, refuses: [gone] },
  ({ setCookie, addHeader, fail }) => {
    setCookie(Cookie.make(seen, 1));
    addHeader("X-Seen", "yes");
    addHeader("x-seen", "twice");
    if (fail === "return") return refuse(gone);
    if (fail === "throw") throw refuse(gone);
    if (fail === "raise") throw new Error("no");
    if (fail === "header") addHeader("connection", "close");
    return fail === "unwritable" ? (7 as never) : "handled";
  },
);

describe("headers that the handler sets", () => {
  it("AN-07 are sent with an answer", async () => {
    const { status, headers } = await Test.call(Test.app([route]), "GET", "/x");
    expect([status, headers.get("x-seen")]).toEqual([200, "yes, twice"]);
    expect(headers.getSetCookie()).toEqual(["seen=1; Path=/; HttpOnly; SameSite=Lax"]);
  });

  it.each([
    ["return", 410],
    ["throw", 410],
    ["raise", 500],
    ["header", 500],
    ["unwritable", 500],
  ])("AN-07 are never sent with a refusal: %s", async (fail, status) => {
    const answered = await Test.call(Test.app([route]), "GET", `/x?fail=${fail}`);
    expect([answered.status, answered.headers.get("x-seen"), answered.headers.getSetCookie()]).toEqual([
      status,
      null,
      [],
    ]);
  });

  it("AN-07 are not sent with a refusal that a route built itself", async () => {
    const built = get(
      Path.of("x"),
      { inputs, returns: Returns.response, refuses: [gone] },
      ({ setCookie, addHeader }) => {
        setCookie(Cookie.make(seen, 1));
        addHeader("x-seen", "yes");
        return Answer.refusal(refuse(gone));
      },
    );
    const { status, headers } = await Test.call(Test.app([built]), "GET", "/x");
    expect([status, headers.get("x-seen"), headers.getSetCookie()]).toEqual([410, null, []]);
  });

  it("AN-03 are sent with a JSON status, with an answer without a body, and next to a built answer's own headers", async () => {
    const set = ({
      setCookie,
      addHeader,
    }: {
      setCookie: (cookie: SetCookie) => void;
      addHeader: (name: string, value: string) => void;
    }) => {
      setCookie(Cookie.make(seen, 2));
      addHeader("x-set", "2");
    };
    const empty = post(Path.of("empty"), { inputs, returns: Returns.empty() }, set);
    const built = get(Path.of("built"), { inputs, returns: Returns.response }, (given) => {
      set(given);
      return Answer.make("x", { headers: [["x-own", "1"]], cookies: [Cookie.make(seen, 1)] });
    });
    const standard = get(Path.of("standard"), { inputs, returns: Returns.response }, async (given) => {
      set(given);
      return new Response("x", { headers: { "x-own": "1" } });
    });
    const app = Test.app([empty, built, standard]);
    for (const [method, target, cookies, own] of [
      ["POST", "/empty", ["seen=2"], null],
      ["GET", "/built", ["seen=2"], "1"],
      ["GET", "/standard", ["seen=2"], "1"],
    ] as const) {
      const { headers } = await Test.call(app, method, target);
      expect(headers.getSetCookie().map((line) => line.split(";")[0])).toEqual(cookies);
      expect([headers.get("x-set"), headers.get("x-own")]).toEqual(["2", own]);
    }
  });

  it("AN-07 an input may set headers, and they are sent with the answer", async () => {
    const visit = Dep.join({ setCookie }, ({ setCookie }) => (setCookie(Cookie.make(seen, 3)), "visited"));
    const visited = get(Path.of("x"), { inputs: { visit }, returns: Returns.text }, ({ visit }) => visit);
    const { body, headers } = await Test.call(Test.app([visited]), "GET", "/x");
    expect([body, headers.getSetCookie().length]).toEqual(["visited", 1]);
  });
});

describe("IN-36 a header that is set after the answer is made", () => {
  const kept: { setCookie?: (cookie: SetCookie) => void; addHeader?: (name: string, value: string) => void } = {};
  const keep = get(Path.of("keep"), { inputs: { setCookie, addHeader }, returns: Returns.text }, (given) => {
    if (kept.setCookie === undefined) Object.assign(kept, given);
    return "kept";
  });

  it("changes nothing, also not in the next request, and logs a warning", async () => {
    const app = Test.app([keep]);
    await Test.call(app, "GET", "/keep");
    kept.setCookie?.(Cookie.make(seen, 1));
    kept.addHeader?.("x-late", "1");
    const late = "/keep set a cookie or a header after its answer had gone, which changed nothing";
    expect(messages("warn")).toEqual([late, late]);
    const { headers } = await Test.call(app, "GET", "/keep");
    expect([headers.get("x-late"), headers.getSetCookie()]).toEqual([null, []]);
  });

  it("also logs a warning after an answer that failed", async () => {
    let late = (): void => {};
    const raises = get(Path.of("raises"), { inputs: { addHeader }, returns: Returns.text }, ({ addHeader }) => {
      late = () => addHeader("x-late", "1");
      throw new Error("no");
    });
    await Test.call(Test.app([raises]), "GET", "/raises");
    late();
    expect(messages("warn")).toEqual([
      "/raises set a cookie or a header after its answer had gone, which changed nothing",
    ]);
  });
});

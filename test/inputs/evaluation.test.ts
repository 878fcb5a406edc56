/** The order in which inputs are read, and the priority of refusals (contract 4.4, rules 1 to 4 and 6; rows IN). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  App,
  Codec,
  Cookie,
  Dep,
  Header,
  Path,
  Query,
  Refusal,
  Returns,
  Test,
  body,
  get,
  json,
  post,
  refuse,
} from "usher-http";
import type { Inputs, Route } from "usher-http";
import { invalid, unsupported } from "../support/refusals.ts";
import { messages } from "../support/logs.ts";

const denied = Refusal.code("denied", { status: 403, doc: "Not for you." });
const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody is signed in.", challenge: "Test" });
const no = '{"error":"denied","message":"Not for you."}';
const nobody = '{"error":"signed_out","message":"Nobody is signed in."}';
const refusing = Dep.join({}, () => refuse(denied), { refuses: [denied] });
const session = Dep.join(
  { s: Cookie.optional(Cookie.named("session", Codec.string)) },
  ({ s }) => s ?? refuse(signedOut),
  { refuses: [signedOut] },
);
const page = Query.required("page", Codec.int);
const problem = (at: string) => Dep.join({}, () => Dep.problem({ at, code: "odd", message: "This is odd." }));
const Name = v.object({ name: v.string() });

/** The number of runs of several dependencies. */
function counters(): { readonly runs: string[]; readonly count: (name: string) => Dep<string, never, unknown> } {
  const runs: string[] = [];
  const count = (name: string) => Dep.join({}, () => (runs.push(name), name));
  return { runs, count };
}

function posts(inputs: Inputs): Route {
  return post(Path.of("x"), { inputs, returns: Returns.text }, () => "handled");
}

describe("a refusal other than a validation problem", () => {
  it.each([
    ["before", { refusing, page }],
    ["after", { page, refusing }],
    ["between", { page, refusing, other: Query.required("other", Codec.int) }],
    ["behind others", { page, deep: Dep.map(Dep.all({ refusing }), String) }],
  ])("IN-03 is never combined with problems: %s them", async (_where, inputs) => {
    const { status, body } = await Test.call(Test.app([posts(inputs)]), "POST", "/x?page=no");
    expect([status, body]).toEqual([403, no]);
  });

  it("IN-04 ends the request: the left dependency runs once, the right one never", async () => {
    const { runs, count } = counters();
    const inputs = { left: count("left"), again: Dep.map(count("other"), String), refusing, right: count("right") };
    expect((await Test.call(Test.app([posts(inputs)]), "POST", "/x")).status).toBe(403);
    expect(runs).toEqual(["left", "other"]);
  });

  it("IN-04 of two refusals, the left one is the answer", async () => {
    const other = Dep.join({}, async () => refuse(signedOut), { refuses: [signedOut] });
    expect((await Test.call(Test.app([posts({ other, refusing })]), "POST", "/x")).body).toBe(nobody);
    expect((await Test.call(Test.app([posts({ refusing, other })]), "POST", "/x")).body).toBe(no);
  });

  it("IN-04 an asynchronous one is awaited, and no input right of it runs earlier", async () => {
    const { runs, count } = counters();
    const later = Dep.join({}, async () => refuse(denied), { refuses: [denied] });
    expect((await Test.call(Test.app([posts({ later, right: count("right") })]), "POST", "/x")).status).toBe(403);
    expect(runs).toEqual([]);
  });

  it("a refusal with the code invalid and without problems is a refusal like any other", async () => {
    const plain = Dep.join({}, () => refuse(Refusal.invalid, "No."), { refuses: [Refusal.invalid] });
    const { body } = await Test.call(Test.app([posts({ page, plain })]), "POST", "/x");
    expect(body).toBe('{"error":"invalid","message":"No."}');
  });

  it("IN-37 Dep.refuse disables a route, and declares its code", async () => {
    const off = posts({ off: Dep.refuse(refuse(denied, "Not now.")), page });
    const { status, body } = await Test.call(Test.app([off]), "POST", "/x");
    expect([status, body]).toEqual([403, '{"error":"denied","message":"Not now."}']);
  });
});

/** Sends a body and counts how often it is read. */
async function asked(inputs: Inputs, headers: Record<string, string> = {}, text = '{"name":"kim"}') {
  let reads = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        reads++;
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const init: RequestInit & { readonly duplex: "half" } = {
    method: "POST",
    body: stream,
    headers: { "content-type": "application/json", ...headers },
    duplex: "half",
  };
  const response = await App.make([posts(inputs)]).fetch(new Request("http://h/x?page=two", init));
  return { status: response.status, body: await response.text(), reads };
}
const named = json(Name);

describe("the body is read last: first-stage refusals", () => {
  it("IN-05 a request refused for a missing token never has its body read", async () => {
    for (const inputs of [
      { named, session },
      { session, named },
    ]) {
      expect(await asked(inputs)).toEqual({ status: 401, body: nobody, reads: 0 });
    }
  });

  it("IN-06 with a token the body is read once", async () => {
    const answered = await asked({ named, session, again: Dep.map(named, String) }, { cookie: "session=s" });
    expect(answered).toEqual({ status: 200, body: "handled", reads: 1 });
  });

  it("a problem of the first stage prevents reading the body, so the body's problems are not reported", async () => {
    const answered = await asked({ named, page }, {}, "not json");
    expect(answered).toEqual({
      status: 400,
      body: invalid(["query.page", "malformed", "This is not a whole number."]),
      reads: 0,
    });
  });

  it("IN-25 a first-stage refusal has priority over a body problem left of it", async () => {
    expect(await asked({ named, refusing }, {}, "not json")).toEqual({ status: 403, body: no, reads: 0 });
  });

  it("IN-39 a wrong content type is a first-stage refusal, and has priority over problems", async () => {
    for (const inputs of [
      { page, named },
      { named, page },
    ]) {
      expect(await asked(inputs, { "content-type": "text/plain" })).toEqual({
        status: 415,
        body: unsupported,
        reads: 0,
      });
    }
  });

  it("IN-40 refusals have priority from left to right, also that of a content type", async () => {
    const wrong = { "content-type": "text/plain" };
    expect(await asked({ named, session }, wrong)).toEqual({ status: 415, body: unsupported, reads: 0 });
    expect(await asked({ session, named }, wrong)).toEqual({ status: 401, body: nobody, reads: 0 });
    const deep = Dep.map(Dep.map(named, String), String);
    expect(await asked({ deep, session }, wrong)).toEqual({ status: 415, body: unsupported, reads: 0 });
  });
});

describe("the body is read last: the second stage", () => {
  it("an input that needs the body runs after all inputs that do not", async () => {
    const { runs, count } = counters();
    const first = Dep.join({ body }, () => (runs.push("body"), 1));
    await asked({
      first,
      left: count("left"),
      mixed: Dep.join({ body, c: count("inner") }, () => (runs.push("mixed"), 1)),
      right: count("right"),
    });
    expect(runs).toEqual(["left", "inner", "right", "body", "mixed"]);
  });

  it("a refusal in the second stage ends it", async () => {
    const { runs } = counters();
    const checked = Dep.join({ named }, ({ named }) => refuse(denied, named.name), { refuses: [denied] });
    const after = Dep.join({ named }, () => (runs.push("after"), 1));
    expect(await asked({ checked, after })).toEqual({
      status: 403,
      body: '{"error":"denied","message":"kim"}',
      reads: 1,
    });
    expect(runs).toEqual([]);
  });

  it("problems of the second stage are reported together", async () => {
    const checked = (at: string) =>
      Dep.join({ body }, async () => Dep.problem({ at, code: "odd", message: "This is odd." }));
    const answered = await asked({ one: checked("body.a"), two: checked("body.b") });
    expect(answered.body).toBe(invalid(["body.a", "odd", "This is odd."], ["body.b", "odd", "This is odd."]));
  });
});

describe("problems", () => {
  it("IN-22 the same problem of several inputs is reported once; problems that differ in any part are not the same", async () => {
    const inputs = {
      page,
      through: Dep.map(page, String),
      again: Query.required("page", Codec.int),
      words: Query.required("page", Codec.bool),
    };
    const { body } = await Test.call(Test.app([posts(inputs)]), "POST", "/x?page=x");
    expect(body).toBe(
      invalid(
        ["query.page", "malformed", "This is not a whole number."],
        ["query.page", "malformed", "This is not true or false."],
      ),
    );
  });

  it("are in the order of the inputs, also those of asynchronous inputs", async () => {
    const slow = Dep.join({}, async () => Dep.problem({ at: "query.slow", code: "odd", message: "This is odd." }));
    const inputs = { slow, page, quick: problem("query.quick"), last: Header.required("x-last", Codec.int) };
    const { body } = await Test.call(Test.app([posts(inputs)]), "POST", "/x");
    expect((JSON.parse(body) as { problems: { at: string }[] }).problems.map(({ at }) => at)).toEqual([
      "query.slow",
      "query.page",
      "query.quick",
      "header.x-last",
    ]);
  });

  it("an input that depends on a failed input is skipped, and adds no problem", async () => {
    const { runs, count } = counters();
    const made = Dep.join({ page, c: count("beside") }, () => (runs.push("made"), refuse(denied)), {
      refuses: [denied],
    });
    const { status } = await Test.call(
      Test.app([posts({ made, far: Dep.map(made, () => runs.push("far")) })]),
      "POST",
      "/x",
    );
    expect([status, runs]).toEqual([400, ["beside"]]);
  });

  it("IN-26, IN-27, IN-28 Dep.join validates two parameters together", async () => {
    const books = ["Emma", "Middlemarch", "Persuasion", "Ulysses", "Walden"];
    const window = Dep.join(
      { page: Query.default("page", Codec.int, 1), perPage: Query.default("per_page", Codec.int, 20) },
      ({ page, perPage }) =>
        page < 1
          ? Dep.problem({ at: "query.page", code: "too_small", message: "This is 1 or more." })
          : { from: (page - 1) * perPage, to: page * perPage },
    );
    const listed = get(
      Path.of("books"),
      { inputs: { window }, returns: Returns.json(v.array(v.string())) },
      ({ window }) => books.slice(window.from, window.to),
    );
    const at = async (target: string) => (await Test.call(Test.app([listed]), "GET", target)).body;
    expect(await at("/books?page=0")).toBe(invalid(["query.page", "too_small", "This is 1 or more."]));
    expect(await at("/books?page=two&per_page=x")).toBe(
      invalid(
        ["query.page", "malformed", "This is not a whole number."],
        ["query.per_page", "malformed", "This is not a whole number."],
      ),
    );
    expect(await at("/books?page=2&per_page=2")).toBe('["Persuasion","Ulysses"]');
  });

  it("the handler never runs on a 400, and no detail of it is logged", async () => {
    let ran = false;
    const never = get(Path.root, { inputs: { page }, returns: Returns.text }, () => ((ran = true), ""));
    await Test.call(Test.app([never]), "GET", "/?page=s3cret");
    expect([ran, messages("warn"), messages("error")]).toEqual([false, [], []]);
    expect(messages("info")).toEqual(["GET / 400"]);
  });
});

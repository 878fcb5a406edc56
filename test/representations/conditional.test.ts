import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Answer, App, Openapi, Path, Returns, addHeader, get, param, patch, post, put, refuse } from "usher-http";
import type { Route } from "usher-http";
import { Conditional } from "usher-http/conditional";
import * as v from "valibot";
import { contentHash } from "../../src/representations/conditional.ts";
import { lines, logWith, logged, messages } from "../support/logs.ts";

const changedAt = new Date("2026-11-20T12:00:00.500Z");
const D = "Fri, 20 Nov 2026 12:00:00 GMT";
const before = "Thu, 01 Jan 1970 00:00:00 GMT";
const T = '"v1"';
const now = () => new Date("2026-11-23T00:00:00Z");

async function ask(routes: readonly Route[], method: string, headers: Record<string, string>, body?: string) {
  const app = App.make(routes, { now });
  const init = body === undefined ? { method, headers } : { method, headers, body };
  const response = await app.fetch(new Request("http://localhost/", init));
  return { status: response.status, headers: response.headers, body: await response.text() };
}

const both = { etag: "v1", lastModified: changedAt };
const page = (validators: Conditional.Validators, more: readonly (readonly [string, string])[] = []) =>
  get(Path.root, { returns: Returns.response }, () =>
    Conditional.answer(Answer.make("ALPHABET", { headers: more }), validators),
  );

describe("a GET of a resource with an ETag and a date", () => {
  it.each<readonly [id: string, headers: Record<string, string>, status: number]>([
    ["no condition", {}, 200],
    ["CR-01", { "if-none-match": '"other"', "if-modified-since": D }, 200],
    ["CR-03", { "if-match": T }, 200],
    ["CR-04", { "if-match": T, "if-unmodified-since": before }, 200],
    ["CR-12", { "if-none-match": T }, 304],
    ["CR-13", { "if-none-match": `"other", ${T}` }, 304],
    ["CR-15", { "if-none-match": `W/${T}` }, 304],
    ["CR-16", { "if-none-match": "*" }, 304],
    ["CR-18", { "if-modified-since": D }, 304],
    ["CR-19", { "if-match": '"other"' }, 412],
    ["CR-21", { "if-unmodified-since": before }, 412],
    ["CR-22", { "if-match": '"other"', "if-none-match": T }, 412],
    ["any version", { "if-match": "*" }, 200],
    ["a weak tag is not matched strongly", { "if-match": `W/${T}` }, 412],
    ["one of several", { "if-match": `"other", ${T}` }, 200],
    ["a field that cannot be read matches nothing", { "if-match": "v1" }, 412],
    ["a field that cannot be read has no version", { "if-none-match": "v1" }, 200],
    ["it hides the date all the same", { "if-none-match": "v1", "if-modified-since": D }, 200],
    ["unmodified since", { "if-unmodified-since": D }, 200],
    ["unmodified since an unreadable date", { "if-unmodified-since": "yesterday" }, 200],
    ["modified since", { "if-modified-since": "Fri, 20 Nov 2026 11:59:59 GMT" }, 200],
    ["modified since an unreadable date", { "if-modified-since": "yesterday" }, 200],
    ["modified since a date to come", { "if-modified-since": "Fri, 01 Jan 2100 00:00:00 GMT" }, 200],
    ["an old form of the date", { "if-modified-since": "Friday, 20-Nov-26 12:00:00 GMT" }, 304],
    ["a match, and then the other one", { "if-match": T, "if-none-match": T }, 304],
  ])("%s: %j is %i", async (_id, headers, status) => {
    const answered = await ask([page(both)], "GET", headers);
    expect(answered.status).toBe(status);
    if (status === 200) expect([answered.body, answered.headers.get("last-modified")]).toEqual(["ALPHABET", D]);
    if (status === 304) expect(answered.body).toBe("");
    if (status === 412) expect(JSON.parse(answered.body)).toMatchObject({ error: "precondition_failed" });
    expect(answered.headers.get("etag")).toBe(status === 412 ? null : T);
    const toHead = await ask([page(both)], "HEAD", headers);
    expect([toHead.status, toHead.body]).toEqual([status, ""]);
  });
});

describe("a GET of a resource with a version", () => {
  it("CR-30 is 304 with its ETag and Cache-Control, and without content", async () => {
    const more = [
      ["Cache-Control", "no-cache"],
      ["vary", "accept"],
      ["content-language", "en"],
      ["x-other", "kept"],
    ] as const;
    const { headers } = await ask([page(both, more)], "GET", { "if-none-match": T });
    expect(Object.fromEntries(headers)).toEqual({
      etag: T,
      "cache-control": "no-cache",
      vary: "accept",
      "x-other": "kept",
      date: expect.any(String),
      "x-request-id": expect.any(String),
    });
    const byDate = await ask([page({ lastModified: changedAt })], "GET", { "if-modified-since": D });
    expect([byDate.status, byDate.headers.get("last-modified")]).toEqual([304, D]);
  });

  it.each<readonly [what: string, validators: Conditional.Validators, headers: Record<string, string>, status: number]>(
    [
      ["a weak tag is no strong match", { etag: { tag: "v1", weak: true } }, { "if-match": 'W/"v1"' }, 412],
      ["a weak tag is a weak match", { etag: { tag: "v1", weak: true } }, { "if-none-match": T }, 304],
      ["without a tag any version", { lastModified: changedAt }, { "if-match": "*" }, 200],
      ["without a tag no version of its own", { lastModified: changedAt }, { "if-match": T }, 412],
      ["without a date", { etag: "v1" }, { "if-modified-since": D, "if-unmodified-since": before }, 200],
      ["an empty tag", { etag: "" }, { "if-none-match": '""' }, 304],
    ],
  )("%s", async (_what, validators, headers, status) => {
    expect((await ask([page(validators)], "GET", headers)).status).toBe(status);
  });

  it("compares a tag only with itself, whatever it is", async () => {
    const tag = fc.stringMatching(/^[\x21\x23-\x7e]*$/);
    await fc.assert(
      fc.asyncProperty(tag, tag, fc.boolean(), async (own, other, weak) => {
        const routes = [page({ etag: { tag: own, weak } })];
        const { headers } = await ask(routes, "GET", {});
        const again = await ask(routes, "GET", { "if-none-match": headers.get("etag") as string });
        expect(again.status).toBe(304);
        expect((await ask(routes, "GET", { "if-none-match": `"${other}"` })).status).toBe(own === other ? 304 : 200);
      }),
      { numRuns: 50 },
    );
  });
});

describe("answers without conditional requests", () => {
  const tagged = (made: Answer) => get(Path.root, { returns: Returns.response }, () => Conditional.answer(made, both));
  it.each([
    ["CR-31 a 404 of the application's own", Answer.make("NOT FOUND", { status: 404 }), 404, "NOT FOUND"],
    ["a redirect", Answer.redirect("/elsewhere"), 302, ""],
    ["a 203", Answer.make("changed", { status: 203 }), 203, "changed"],
  ])("%s", async (_what, made, status, body) => {
    const answered = await ask([tagged(made)], "GET", { "if-none-match": "*", "if-match": '"other"' });
    expect([answered.status, answered.body, answered.headers.get("etag")]).toEqual([status, body, T]);
  });

  it("the answer to a POST, whose ETag is of the created resource", async () => {
    const make = post(Path.root, { returns: Returns.response }, () => Conditional.answer(Answer.make("made"), both));
    const answered = await ask([make], "POST", { "if-match": '"other"', "if-none-match": T });
    expect([answered.status, answered.body, answered.headers.get("etag")]).toEqual([200, "made", T]);
  });
});

describe("Conditional.validators", () => {
  const Order = v.object({ id: v.number(), item: v.string() });
  const show = (version: Conditional.Validators, more?: string) =>
    get(
      Path.root,
      { inputs: { validators: Conditional.validators, addHeader }, returns: Returns.json(Order) },
      ({ validators, addHeader }) => {
        if (more !== undefined) addHeader("etag", more);
        validators({ etag: "first" });
        validators(version);
        return { id: 1, item: "pen" };
      },
    );

  it("sends the headers of the last call, and no earlier ones", async () => {
    const { headers, body } = await ask([show(both, '"own"')], "GET", {});
    expect([headers.get("etag"), headers.get("last-modified"), body]).toEqual([T, D, '{"id":1,"item":"pen"}']);
  });

  it("sends a 304, also to HEAD, and a 412", async () => {
    const routes = [show(both)];
    const there = await ask(routes, "GET", { "if-none-match": T });
    expect([there.status, there.body, there.headers.get("content-type")]).toEqual([304, "", null]);
    expect((await ask(routes, "HEAD", { "if-none-match": T })).status).toBe(304);
    expect((await ask(routes, "GET", { "if-match": '"other"' })).status).toBe(412);
  });

  it("does nothing for a refusal", async () => {
    const route = get(
      Path.root,
      { inputs: { validators: Conditional.validators }, returns: Returns.text },
      ({ validators }) => {
        validators(both);
        return refuse(busy);
      },
    );
    const { status, headers } = await ask([route], "GET", { "if-none-match": T });
    expect([status, headers.get("etag")]).toEqual([503, null]);
  });

  it("is in the document, with the 304 and the 412", () => {
    const { paths } = Openapi.document([show(both)]);
    const { responses, parameters } = paths["/"]!["get"] as {
      responses: Record<string, { headers?: object }>;
      parameters: { name: string }[];
    };
    expect(parameters.map(({ name }) => name)).toEqual(["if-none-match", "if-modified-since"]);
    expect(Object.keys(responses)).toEqual(["200", "304", "400", "412", "500", "503"]);
    expect([responses["200"], responses["304"]].map((one) => Object.keys(one!.headers ?? {}))).toEqual([
      ["ETag", "Last-Modified"],
      ["ETag"],
    ]);
  });
});

describe("validators of a route that changes something", () => {
  const change = patch(
    Path.root,
    {
      inputs: { validators: Conditional.validators, precondition: Conditional.requiredPrecondition },
      returns: Returns.text,
      refuses: [Conditional.preconditionFailed],
    },
    () => "changed",
  );

  it("read no condition, so the document has those of the precondition alone", () => {
    const { parameters, responses } = Openapi.document([change]).paths["/"]!["patch"] as {
      parameters: { name: string }[];
      responses: Record<string, { headers?: object }>;
    };
    expect(parameters.map(({ name }) => name)).toEqual(["if-match", "if-none-match", "if-unmodified-since"]);
    expect(Object.keys(responses["200"]!.headers ?? {})).toEqual(["ETag", "Last-Modified"]);
    const alone = post(
      Path.root,
      { inputs: { validators: Conditional.validators }, returns: Returns.text },
      () => "made",
    );
    expect(Openapi.document([alone]).paths["/"]!["post"]).not.toHaveProperty("parameters");
  });
});

const busy = { name: "busy", status: 503, doc: "" } as const;

describe("a body that is not sent", () => {
  it.each([
    [{ "if-none-match": T }, 304],
    [{ "if-match": '"other"' }, 412],
  ])("is cancelled: %j", async (headers, status) => {
    let isCancelled = false;
    const stream = new ReadableStream<Uint8Array>({ cancel: () => void (isCancelled = true) });
    const route = get(Path.root, { returns: Returns.response }, () => Conditional.answer(Answer.stream(stream), both));
    expect((await ask([route], "GET", headers)).status).toBe(status);
    expect(isCancelled).toBe(true);
  });
});

describe("the log of a conditional request", () => {
  it("has the status that was sent, and no undeclared answer", async () => {
    logWith({ level: "debug" });
    const listed = get(
      Path.root,
      { returns: Returns.responses({ 200: { doc: "A page.", contentTypes: ["text/plain"] } }) },
      () => Conditional.answer(Answer.make("ALPHABET"), both),
    );
    await ask([listed], "GET", { "if-none-match": T });
    await ask([listed], "GET", { "if-match": '"other"' });
    expect([...messages("warn"), ...messages("error")]).toEqual([]);
    expect(lines().map((line) => line["http.response.status_code"])).toEqual([304, 412]);
  });
});

describe("Conditional.precondition", () => {
  const id = Path.int("id");
  const gone = { name: "gone", status: 410, doc: "It is gone." } as const;
  const change = (current: Conditional.Validators | undefined) =>
    patch(
      Path.root,
      {
        inputs: { precondition: Conditional.precondition },
        returns: Returns.text,
        refuses: [Conditional.preconditionFailed],
      },
      ({ precondition }) => precondition(current) ?? "changed",
    );
  it.each<
    readonly [
      what: string,
      current: Conditional.Validators | undefined,
      headers: Record<string, string>,
      status: number,
    ]
  >([
    ["without a condition", both, {}, 200],
    ["the version", both, { "if-match": T }, 200],
    ["another version", both, { "if-match": '"v0"' }, 412],
    ["a weak tag", both, { "if-match": `W/${T}` }, 412],
    ["anything there", both, { "if-match": "*" }, 200],
    ["nothing there", undefined, { "if-match": "*" }, 412],
    ["nothing there of a version", undefined, { "if-match": T }, 412],
    ["nothing yet, and there is", both, { "if-none-match": "*" }, 412],
    ["nothing yet, and there is none", undefined, { "if-none-match": "*" }, 200],
    ["not this version", both, { "if-none-match": T }, 412],
    ["not another version", both, { "if-none-match": '"v0"' }, 200],
    ["unmodified since", both, { "if-unmodified-since": D }, 200],
    ["modified since", both, { "if-unmodified-since": before }, 412],
    ["modified since is of a GET", both, { "if-modified-since": D }, 200],
  ])("%s is %#", async (_what, current, headers, status) => {
    const answered = await ask([change(current)], "PATCH", headers);
    expect([answered.status, answered.status === 200 ? "changed" : JSON.parse(answered.body).error]).toEqual([
      status,
      status === 200 ? "changed" : "precondition_failed",
    ]);
  });

  it("runs before the handler if a condition is required", async () => {
    let handled = 0;
    const route = put(
      Path.root,
      {
        inputs: { precondition: Conditional.requiredPrecondition },
        returns: Returns.text,
        refuses: [Conditional.preconditionFailed],
      },
      ({ precondition }) => precondition((handled++, both)) ?? "written",
    );
    const without = await ask([route], "PUT", {});
    expect([without.status, JSON.parse(without.body).error, handled]).toEqual([428, "precondition_required", 0]);
    expect((await ask([route], "PUT", { "if-match": '"v0"' })).status).toBe(412);
    expect((await ask([route], "PUT", { "if-match": T })).body).toBe("written");
    expect((await ask([route], "PUT", { "if-none-match": "*" })).status).toBe(412);
  });

  it("is in the document", () => {
    const route = patch(
      Path.of("orders", id),
      {
        inputs: { id: param(id), precondition: Conditional.requiredPrecondition },
        returns: Returns.text,
        refuses: [gone, Conditional.preconditionFailed],
      },
      ({ precondition }) => precondition(both) ?? "changed",
    );
    const { paths } = Openapi.document([route]);
    const { responses, parameters } = paths["/orders/{id}"]!["patch"] as {
      responses: object;
      parameters: { name: string }[];
    };
    expect(Object.keys(responses)).toEqual(["200", "400", "403", "410", "412", "428", "500", "503"]);
    expect(parameters.map(({ name }) => name)).toEqual(["id", "if-match", "if-none-match", "if-unmodified-since"]);
  });
});

describe("Conditional.tagJson", () => {
  const Item = v.object({ n: v.number() });
  const routes = Conditional.tagJson([
    get(Path.root, { inputs: { addHeader }, returns: Returns.json(Item) }, ({ addHeader }) => {
      addHeader("x-a", "b");
      return { n: counter.n };
    }),
    get(Path.of("text"), { returns: Returns.text }, () => "text"),
    post(Path.root, { returns: Returns.json(Item) }, () => ({ n: 1 })),
    get(Path.of("own"), { inputs: { validators: Conditional.validators }, returns: Returns.json(Item) }, (inputs) => {
      inputs.validators({ etag: "own" });
      return { n: 1 };
    }),
    get(Path.of("dated"), { inputs: { addHeader }, returns: Returns.json(Item) }, ({ addHeader }) => {
      addHeader("last-modified", D);
      return { n: 1 };
    }),
  ]);
  const counter = { n: 1 };
  const { fetch } = App.make(routes, { now });
  const asks = async (path: string, init?: RequestInit) => fetch(new Request(`http://localhost${path}`, init));

  it("tags an answer by its text, weakly, and another text differently", async () => {
    const first = await asks("/");
    const etag = first.headers.get("etag") as string;
    expect(etag).toMatch(/^W\/"[0-9a-z.]+"$/);
    expect([await first.json(), first.headers.get("x-a")]).toEqual([{ n: 1 }, "b"]);
    expect((await asks("/")).headers.get("etag")).toBe(etag);
    const same = await asks("/", { headers: { "if-none-match": etag } });
    expect([same.status, await same.text(), same.headers.get("etag"), same.headers.get("x-a")]).toEqual([
      304,
      "",
      etag,
      "b",
    ]);
    counter.n = 2;
    const changed = await asks("/", { headers: { "if-none-match": etag } });
    expect([changed.status, await changed.json()]).toEqual([200, { n: 2 }]);
    expect(changed.headers.get("etag")).not.toBe(etag);
  });

  it("tags a HEAD like its GET", async () => {
    const [head, whole] = [await asks("/", { method: "HEAD" }), await asks("/")];
    expect(head.headers.get("etag")).toBe(whole.headers.get("etag"));
  });

  it("does not change texts, other methods, other statuses and tags of the application", async () => {
    expect((await asks("/text")).headers.get("etag")).toBeNull();
    expect((await asks("/", { method: "POST" })).headers.get("etag")).toBeNull();
    expect((await asks("/nothing")).headers.get("etag")).toBeNull();
    expect((await asks("/own")).headers.get("etag")).toBe('"own"');
    expect((await asks("/own", { headers: { "if-none-match": '"own"' } })).status).toBe(304);
  });

  it("compares a date that the handler gave", async () => {
    expect((await asks("/dated", { headers: { "if-modified-since": D } })).status).toBe(304);
    expect((await asks("/dated", { headers: { "if-modified-since": before } })).status).toBe(200);
  });

  it("has one tag for one of thousands of texts", () => {
    const tags = new Set<string>();
    for (let n = 0; n < 20_000; n++) tags.add(contentHash(`{"n":${n}}`));
    expect(tags.size).toBe(20_000);
  });
});

describe("from JavaScript", () => {
  const wrong = [undefined, null, 1, "v1", [], () => {}, { etag: 1 }, { etag: 'a"b' }, { etag: "a b" }, { etag: "é" }];
  const dates = [{ lastModified: 1 }, { lastModified: new Date(Number.NaN) }, { etag: { tag: 1, weak: false } }];
  it.each([...wrong, ...dates])(
    "wrong validators %# are refused with a message that does not quote them",
    (validators) => {
      const make = () => Conditional.answer(Answer.make(""), validators as never);
      if (Array.isArray(validators)) return expect(make).not.toThrow();
      expect(make).toThrow(/^Conditional\.answer: validators(: \w+)? is .+, and not .+$/);
    },
  );
  it.each([undefined, null, 1, "a", {}, [1]])("tagJson of %j is refused", (routes) => {
    expect(() => Conditional.tagJson(routes as never)).toThrow(/^Conditional\.tagJson: routes is .+$/);
  });
  it("wrong validators of an input are a 500, whose line names the function", async () => {
    const route = get(
      Path.root,
      { inputs: { validators: Conditional.validators }, returns: Returns.text },
      ({ validators }) => {
        validators({ etag: "with a blank" });
        return "never";
      },
    );
    expect((await ask([route], "GET", {})).status).toBe(500);
    expect(logged().join()).toContain("Conditional.validators: its validators: etag is");
    expect(logged().join()).not.toContain("with a blank");
  });
});

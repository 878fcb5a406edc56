/** `Dep.bind`: an input that is chosen by the value of another input (contract 4.2 rule 10, 4.4; rows IN-24, ST-06). */
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import {
  App,
  Codec,
  Dep,
  Form,
  Header,
  Path,
  Query,
  Refusal,
  Returns,
  Test,
  body,
  bodyStream,
  get,
  json,
  param,
  post,
  refuse,
} from "usher-http";
import type { Inputs, Route } from "usher-http";
import { FieldNames } from "../../src/inputs/text.ts";
import { internal, invalid, tooLarge, unsupported } from "../support/refusals.ts";
import { eventually } from "../support/eventually.ts";
import { lines, logged } from "../support/logs.ts";

const text = Dep.map(body, (bytes) => new TextDecoder().decode(bytes));
const kind = Query.default("kind", Codec.string, "a");
const denied = Refusal.code("denied", { status: 403, doc: "No." });

function told(inputs: Inputs): Route {
  const refuses = [Refusal.unsupportedMediaType];
  return post(Path.of("x"), { inputs, returns: Returns.text, refuses }, (values) =>
    Object.values(values).map(String).join(" "),
  );
}

async function asked(
  inputs: Inputs,
  options: { search?: string; type?: string; sent?: string; maxBody?: number } = {},
) {
  const { search = "", type = "text/plain", sent = "ab", maxBody = 100 } = options;
  const { status, body } = await Test.call(Test.app([told(inputs)], { maxBody }), "POST", `/x${search}`, {
    headers: { "content-type": type },
    body: sent,
  });
  return [status, body];
}

const chosen = Dep.bind(kind, (kind) => Query.required(kind, Codec.int));

describe("an input that Dep.bind chose: problems", () => {
  it("is read after the value it depends on", async () => {
    expect(await asked({ chosen }, { search: "?kind=b&a=1&b=2" })).toEqual([200, "2"]);
    expect(await asked({ chosen }, { search: "?a=1&b=2" })).toEqual([200, "1"]);
  });

  it.each([
    ["the query", Query, { search: "?b=2&b=3" }],
    ["a form that nothing else reads", Form, { sent: "b=2&b=3" }],
  ])("may be one value and the whole list of %s", async (_what, place, given) => {
    const { required, list } = place as typeof Query;
    const both = Dep.bind(kind, () => Dep.all({ first: required("b", Codec.int), all: list("b", Codec.int) }));
    const told = Dep.map(both, ({ first, all }) => `${first} [${all.join(",")}]`);
    const type = "application/x-www-form-urlencoded";
    expect(await asked({ told }, { type, ...given })).toEqual([200, "2 [2,3]"]);
  });

  it("may be the whole list of a form's field that the route reads as one value, and the other way round", async () => {
    const type = "application/x-www-form-urlencoded";
    const [one, list] = [Form.required("b", Codec.int), Form.list("b", Codec.int)];
    const late = (dep: Dep.Dep<unknown>) => Dep.bind(kind, () => dep);
    expect(await asked({ one, list: late(list) }, { type, sent: "b=2&b=3" })).toEqual([200, "2 2,3"]);
    expect(await asked({ one: late(one), list }, { type, sent: "b=2&b=3" })).toEqual([200, "2 2,3"]);
  });

  it("has its problem at the route's place for it, also in the body", async () => {
    const chosen = Dep.bind(kind, () => Form.required("b", Codec.int));
    const inputs = { a: Form.required("a", Codec.int), chosen, c: Form.required("c", Codec.int) };
    const type = "application/x-www-form-urlencoded";
    const whole = "This is not a whole number.";
    expect(await asked(inputs, { type, sent: "a=x&b=x&c=x" })).toEqual([
      400,
      invalid(["form.a", "malformed", whole], ["form.b", "malformed", whole], ["form.c", "malformed", whole]),
    ]);
  });

  const part = (name: string, value: string) =>
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

  it.each([
    ["application/x-www-form-urlencoded", "kind=b&a=1&b=%32&b=3&c=4"],
    [
      "multipart/form-data; boundary=x",
      `${part("kind", "b")}${part("a", "1")}${part("b", "2")}${part("b", "3")}${part("c", "4")}--x--`,
    ],
  ])("is a field of the form if the route reads other fields of it: %s", async (type, sent) => {
    const chosen = Dep.bind(Form.required("kind", Codec.string), (kind) =>
      Dep.all({
        first: Form.required(kind, Codec.int),
        all: Form.list(kind, Codec.int),
        c: Form.optional("c", Codec.int),
      }),
    );
    const told = Dep.map(chosen, ({ first, all, c }) => `${first} [${all.join(",")}] ${c}`);
    expect(await asked({ told, a: Form.required("a", Codec.int) }, { type, sent, maxBody: 1000 })).toEqual([
      200,
      "2 [2,3] 4 1",
    ]);
  });

  it("has its problems reported with the others, in its place", async () => {
    const expected = invalid(
      ["query.b", "required", "This is required."],
      ["query.z", "required", "This is required."],
    );
    expect(await asked({ chosen, z: Query.required("z", Codec.int) }, { search: "?kind=b" })).toEqual([400, expected]);
  });
});

it("a bind to many fields reads the text of a form once for all of them", async () => {
  const pairs = vi.spyOn(FieldNames.prototype, "indexIn");
  const fields = Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, Form.optional(name, Codec.int)]));
  const told = Dep.map(
    Dep.bind(Form.required("kind", Codec.string), () => Dep.all(fields)),
    (values) => JSON.stringify(values),
  );
  const type = "application/x-www-form-urlencoded";
  const answered = await asked({ told }, { type, sent: "kind=x&a=1&d=4" });
  const read = pairs.mock.calls.length;
  pairs.mockRestore();
  expect(answered).toEqual([200, '{"a":1,"d":4}']);
  // Once for the route's own field, and once for the others.
  expect(read).toBe(2 * 3);
});

describe("an input that Dep.bind chose: when it runs", () => {
  it("does not run if the value it depends on failed", async () => {
    let asks = 0;
    const late = Dep.bind(Query.required("n", Codec.int), () => (asks++, Dep.return(1)));
    expect(await asked({ late })).toEqual([400, invalid(["query.n", "required", "This is required."])]);
    expect(asks).toBe(0);
  });

  it("can refuse like every input", async () => {
    const late = Dep.bind(kind, () => Dep.join({}, () => refuse(denied), { refuses: [denied] }));
    const page = Query.required("page", Codec.int);
    const route = post(Path.of("x"), { inputs: { page, late }, returns: Returns.text, refuses: [denied] }, () => "");
    const { status, body } = await Test.call(Test.app([route]), "POST", "/x");
    expect([status, body]).toEqual([403, '{"error":"denied","message":"No."}']);
  });

  it("RF-03 a code that the chosen input declares counts as declared", async () => {
    const late = Dep.bind(kind, () => Dep.join({}, () => refuse(denied), { refuses: [denied] }));
    expect(await asked({ late })).toEqual([403, '{"error":"denied","message":"No."}']);
  });

  it("is chosen once per request, and read once per request", async () => {
    let runs = 0;
    let asks = 0;
    const shared = Dep.join({}, async () => ++runs);
    const late = Dep.bind(kind, () => (asks++, shared));
    const inputs = {
      late,
      again: late,
      map: Dep.map(late, String),
      other: Dep.bind(kind, () => shared),
      direct: shared,
    };
    expect(await asked(inputs)).toEqual([200, "1 1 1 1 1"]);
    expect([asks, runs]).toEqual([1, 1]);
  });

  it("may be one that the route reads anyway, before or after it", async () => {
    const { runs, dep } = counter();
    expect(await asked({ late: Dep.bind(kind, () => dep), dep })).toEqual([200, "1 1"]);
    expect(await asked({ dep, late: Dep.bind(kind, () => Dep.map(dep, (n) => n * 10)) })).toEqual([200, "2 20"]);
    expect(runs()).toBe(2);
  });

  it("may be a bind, a constant, a resource or an input that reads nothing of the request", async () => {
    const store = Dep.ofResource<string>("store");
    const deep = Dep.bind(kind, () =>
      Dep.bind(kind, (kind) => Dep.bind(Dep.return(1), () => Dep.return(`deep ${kind}`))),
    );
    const route = told({ deep, store, late: Dep.bind(kind, () => store) });
    const { body } = await Test.call(Test.app([route], { resources: [Dep.resource(store, "held")] }), "POST", "/x");
    expect(body).toBe("deep a held held");
  });

  function counter() {
    let runs = 0;
    return { dep: Dep.join({}, () => ++runs), runs: () => runs };
  }
});

describe("a body that Dep.bind chose", () => {
  it("IN-24 bind on the body, and the body again: the body is read once", async () => {
    const late = Dep.bind(text, (text) => Dep.map(body, (bytes) => text + new TextDecoder().decode(bytes)));
    expect(await asked({ late })).toEqual([200, "abab"]);
    expect(await asked({ text, late, again: text })).toEqual([200, "ab abab ab"]);
  });

  it("is read in the second stage, and only if the bind chose it", async () => {
    const order: string[] = [];
    const noted = Dep.map(text, (text) => (order.push("body"), text));
    const late = Dep.bind(kind, (kind) => (kind === "body" ? noted : Dep.return("none")));
    const right = Dep.join({}, () => (order.push("right"), "right"));
    expect(await asked({ late, right }, { search: "?kind=body" })).toEqual([200, "ab right"]);
    expect(order).toEqual(["right", "body"]);
    expect(await asked({ late, right })).toEqual([200, "none right"]);
    expect(await asked({ late }, { search: "?kind=body", sent: "x".repeat(101) })).toEqual([413, tooLarge]);
    expect(await asked({ late }, { sent: "x".repeat(101) })).toEqual([200, "none"]);
  });

  it("is not read if the first stage has problems, in any order", async () => {
    let read = 0;
    const late = Dep.bind(kind, () => Dep.map(text, () => read++));
    const { fetch } = App.make([told({ late, page: Query.required("page", Codec.int) })]);
    let pulled = 0;
    const stream = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 });
    const init: RequestInit & { readonly duplex: "half" } = { method: "POST", body: stream, duplex: "half" };
    expect((await fetch(new Request("http://h/x", init))).status).toBe(400);
    expect([read, pulled]).toEqual([0, 0]);
  });

  it("an input that is computed from it waits for it", async () => {
    const late = Dep.bind(kind, () => text);
    const made = Dep.map(late, (text) => text.toUpperCase());
    const joined = Dep.join({ late, made }, async ({ late, made }) => `${late}${made}`);
    expect(await asked({ joined, made, late, deep: Dep.bind(joined, (joined) => Dep.return(`<${joined}>`)) })).toEqual([
      200,
      "abAB AB ab <abAB>",
    ]);
  });

  it("refuses a wrong content type in the first stage", async () => {
    const named = json(v.object({ name: v.string() }));
    const late = Dep.bind(kind, () => Dep.map(named, ({ name }) => name));
    const page = Query.required("page", Codec.int);
    expect(await asked({ late }, { type: "application/json", sent: '{"name":"kim"}' })).toEqual([200, "kim"]);
    expect(await asked({ late }, { sent: '{"name":"kim"}' })).toEqual([415, unsupported]);
    expect(await asked({ page, late }, { sent: "x" })).toEqual([415, unsupported]);
    expect(await asked({ late }, { type: "application/json", sent: "{}" })).toEqual([
      400,
      invalid(["body.name", "required", "This is required."]),
    ]);
    const parsed = Dep.ofBody({ contentTypes: ["image/*"] }, (bytes) => bytes.length);
    const route = told({ late: Dep.bind(kind, () => parsed) });
    expect((await Test.call(Test.app([route]), "POST", "/x", { body: "x" })).status).toBe(415);
    expect(
      (await Test.call(Test.app([route]), "POST", "/x", { body: "xy", headers: { "content-type": "image/png" } })).body,
    ).toBe("2");
  });
});

describe("a path parameter that Dep.bind chose", () => {
  const id = Path.int("id");
  const late = Dep.bind(kind, () => param(id));

  it("is read if the route's path has it", async () => {
    const route = get(Path.of("x", id), { inputs: { late }, returns: Returns.text }, ({ late }) => String(late));
    expect((await Test.call(Test.app([route]), "GET", "/x/7")).body).toBe("7");
    expect((await Test.call(Test.app([route]), "GET", "/x/y")).body).toBe(
      invalid(["path.id", "malformed", "This is not a whole number."]),
    );
  });

  it("ST-06 is a 500 if the path does not have it, and the log names it", async () => {
    const route = get(Path.of("orders"), { inputs: { late }, returns: Returns.text }, () => "");
    const { status, body } = await Test.call(Test.app([route]), "GET", "/orders");
    expect([status, body]).toEqual([500, internal]);
    const errors = lines().filter(({ level }) => level === "error");
    expect(errors.map(({ "http.route": route }) => route)).toEqual(["/orders"]);
    expect(logged().join("\n")).toContain("a dependency read the path parameter id, which");
  });

  it("ST-06 is a 500 if the path has another parameter with its name", async () => {
    const route = get(Path.of("x", Path.str("id")), { inputs: { late }, returns: Returns.text }, () => "");
    const { status, body } = await Test.call(Test.app([route]), "GET", "/x/7");
    expect([status, body]).toEqual([500, internal]);
    expect(logged().join("\n")).toContain(
      "a dependency read the path parameter id, which the path of GET /x/{id} does not have: it has another",
    );
  });

  it("ST-06 is a 500 in the second stage too", async () => {
    const route = post(
      Path.of("orders"),
      { inputs: { late: Dep.bind(text, () => param(id)) }, returns: Returns.text },
      () => "",
    );
    expect((await Test.call(Test.app([route]), "POST", "/orders", { body: "x" })).body).toBe(internal);
  });
});

it("a header that Dep.bind chose joins several lines too", async () => {
  const late = Dep.bind(kind, (kind) => Header.optional(`x-${kind}`, Codec.string));
  const headers = [
    ["content-type", "a/b"],
    ["x-a", "1"],
    ["x-a", "2"],
  ] as const;
  const { body } = await Test.call(Test.app([told({ late })]), "POST", "/x", { headers });
  expect(body).toBe(invalid(["header.x-a", "malformed", "This is given more than once."]));
});

describe("a body that is chosen by an acquired value", () => {
  const shape = json(v.object({ n: v.optional(v.number()) }));
  const acquired = Dep.scoped(
    {},
    () => "json",
    () => {},
  );
  const typed = { type: "application/json", sent: '{"n":7}' };
  const chosen = Dep.map(
    Dep.bind(acquired, () => shape),
    ({ n }) => n,
  );

  it("is read", async () => {
    expect(await asked({ chosen }, typed)).toEqual([200, "7"]);
    expect(await asked({ chosen, acquired, other: Dep.bind(kind, () => Dep.return("o")) }, typed)).toEqual([
      200,
      "7 json o",
    ]);
  });

  it("has its own problems, limits and content types", async () => {
    expect(await asked({ chosen }, { ...typed, sent: '{"n":"x"}' })).toEqual([
      400,
      invalid(["body.n", "unexpected_type", "This must be a number, not text."]),
    ]);
    expect(await asked({ chosen }, { ...typed, maxBody: 3 })).toEqual([413, tooLarge]);
    expect(await asked({ chosen }, { ...typed, type: "text/plain" })).toEqual([415, unsupported]);
  });

  it("is acquired and released once", async () => {
    const told: string[] = [];
    const once = Dep.scoped(
      {},
      () => void told.push("acquired"),
      () => void told.push("released"),
    );
    const late = Dep.map(
      Dep.bind(once, () => shape),
      ({ n }) => n,
    );
    expect(await asked({ once, late }, typed)).toEqual([200, "undefined 7"]);
    await eventually(() => expect(told).toEqual(["acquired", "released"]));
  });

  it("is chosen by an input that runs once, although it waited for the value and the body is read later", async () => {
    let runs = 0;
    const waits = Dep.map(
      Dep.bind(kind, () => acquired),
      (value) => `${value} ${++runs}`,
    );
    const late = Dep.map(
      Dep.bind(waits, () => shape),
      ({ n }) => n,
    );
    expect(await asked({ waits, late }, typed)).toEqual([200, "json 1 7"]);
    expect(runs).toBe(1);
  });
});

it("a body that is read both as a stream and whole is a 500, also if Dep.bind chose one of the two", async () => {
  const stream = bodyStream({ max: 100 });
  const chosen = Dep.bind(stream, () => json(v.object({})));
  expect(await asked({ chosen }, { type: "application/json", sent: "{}" })).toEqual([500, internal]);
  expect(logged().join("\n")).toContain("read its body in two ways, where a body is read one way");
});

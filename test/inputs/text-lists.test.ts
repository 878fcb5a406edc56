/** Lists of texts that codecs and schemas read, with limits of their length; and schemas next to other inputs. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  Codec,
  Cookie,
  Dep,
  Form,
  Header,
  Keys,
  Path,
  Query,
  Returns,
  Shape,
  Test,
  get,
  param,
  post,
} from "usher-http";
import type { Inputs } from "usher-http";
import { codecFor } from "../../src/inputs/text-schema.ts";
import { invalid } from "../support/refusals.ts";
import "../support/logs.ts";
import { told } from "./places.ts";

const limit = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100));
const bounds = { minItems: 1, maxItems: 2 };
const few = "This must have at least 1 item.";
const many = "This must have at most 2 items.";
const notWhole = "This is not a whole number.";
const tooSmall = "This must be at least 1.";

/** Sends the items of the list `x`. */
type Send = (inputs: (kind: typeof Query.list) => Inputs, items: readonly string[]) => ReturnType<typeof Test.call>;

function app(inputs: Inputs): Test.TestApp {
  const tell = (values: object): string => Object.values(values).flat().map(told).join();
  return Test.app([
    get(Path.root, { inputs, returns: Returns.text }, tell),
    post(Path.root, { inputs, returns: Returns.text }, tell),
  ]);
}
const pairs = (items: readonly string[]) => new URLSearchParams(items.map((item) => ["x", item]));
const places: readonly (readonly [place: string, send: Send])[] = [
  ["query", (make, items) => Test.call(app(make(Query.list)), "GET", `/?${pairs(items)}`)],
  ["form", (make, items) => Test.call(app(make(Form.list as never)), "POST", "/", { body: pairs(items) })],
  [
    "form",
    (make, items) => {
      const body = new FormData();
      for (const item of items) body.append("x", item);
      return Test.call(app(make(Form.list as never)), "POST", "/", { body });
    },
  ],
  [
    "header",
    (make, items) =>
      Test.call(app(make(Header.list as never)), "GET", "/", { headers: items.map((item) => ["x", item] as const) }),
  ],
  [
    "header",
    (make, items) => Test.call(app(make(Header.list as never)), "GET", "/", { headers: { x: items.join(" ,\t") } }),
  ],
];

describe.each(places)("a list in the %s", (place, send) => {
  const at = `${place}.x`;

  it.each([
    ["no items", [], ""],
    ["one", ["7"], "number 7"],
    ["several in order", ["7", "1", "7"], "number 7,number 1,number 7"],
  ] as const)("with a schema: %s", async (_what, items, expected) => {
    expect((await send((list) => ({ x: list("x", limit) }), items)).body).toBe(expected);
  });

  it("reports each problem of each item of a schema at its index", async () => {
    const schema = v.pipe(v.number(), v.minValue(1), v.multipleOf(2));
    expect((await send((list) => ({ x: list("x", schema) }), ["2", "x", "4", "-1"])).body).toBe(
      invalid(
        [`${at}[1]`, "malformed", "This is not a number."],
        [`${at}[3]`, "too_small", tooSmall],
        [`${at}[3]`, "not_a_multiple", "This must be a multiple of 2."],
      ),
    );
  });

  it("reports the first problem of a codec", async () => {
    const read = send((list) => ({ x: list("x", Codec.int) }), ["1", "x", "y"]);
    expect((await read).body).toBe(invalid([at, "malformed", notWhole]));
  });

  it.each([
    ["a schema, too few", limit, [], [[at, "too_few", few]]],
    ["a codec, too few", Codec.int, [], [[at, "too_few", few]]],
    ["a schema, too many", limit, ["1", "2", "3"], [[at, "too_many", many]]],
    ["a codec, too many", Codec.int, ["1", "2", "3"], [[at, "too_many", many]]],
    [
      "a schema, too many and one wrong",
      limit,
      ["1", "0", "3"],
      [
        [`${at}[1]`, "too_small", tooSmall],
        [at, "too_many", many],
      ],
    ],
    [
      "a codec, too many and one wrong",
      Codec.int,
      ["1", "x", "y"],
      [
        [at, "malformed", notWhole],
        [at, "too_many", many],
      ],
    ],
  ] as const)("with limits of its length: %s", async (_what, items, texts, problems) => {
    const answer = await send((list) => ({ x: list("x", items as Codec<number>, bounds) }), texts);
    expect([answer.status, answer.body]).toEqual([400, invalid(...problems)]);
  });

  it.each([["1"], ["1", "2"]])("within its limits: %s", async (...texts) => {
    expect((await send((list) => ({ x: list("x", limit, bounds) }), texts)).status).toBe(200);
  });
});

describe("a hostile list", () => {
  it("lists a thousand problems, and the number of the others", async () => {
    const answer = await Test.call(app({ x: Query.list("x", limit) }), "GET", `/?${"x=0&".repeat(1500)}`);
    const { problems, more } = answer.json() as { problems: readonly unknown[]; more: number };
    expect([problems.length, more]).toEqual([1000, 500]);
  });

  it("lists maxProblems problems, in a query and in a form", async () => {
    const [query, form] = [{ x: Query.list("x", limit) }, { x: Form.list("x", limit) }];
    const routes = [
      get(Path.root, { inputs: query, returns: Returns.text }, () => ""),
      post(Path.root, { inputs: form, returns: Returns.text }, () => ""),
    ];
    const app = Test.app(routes, { maxProblems: 1400 });
    const sent = "x=0&".repeat(1500);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answers = [
      await Test.call(app, "GET", `/?${sent}`),
      await Test.call(app, "POST", "/", { headers, body: sent }),
    ];
    for (const answer of answers) {
      const { problems, more } = answer.json() as { problems: readonly unknown[]; more: number };
      expect([problems.length, more]).toEqual([1400, 100]);
    }
  });

  it("skips empty items of a header, as RFC 9110 has it", async () => {
    const { body } = await Test.call(app({ x: Header.list("x", limit) }), "GET", "/", {
      headers: [
        ["x", ",, 1 ,,2,"],
        ["x", ""],
        ["x", " , "],
      ],
    });
    expect(body).toBe("number 1,number 2");
  });

  it.each([
    ["query", (x: Inputs) => Test.call(app(x), "GET", "/?x=%ff&x=1"), Query.list("x", limit)],
    [
      "form",
      (x: Inputs) =>
        Test.call(app(x), "POST", "/", {
          body: "x=%ff&x=1",
          headers: { "content-type": "application/x-www-form-urlencoded" },
        }),
      Form.list("x", limit),
    ],
  ] as const)("an item of the %s that is not UTF-8 is reported at its index", async (place, call, x) => {
    expect((await call({ x })).body).toBe(invalid([`${place}.x[0]`, "malformed", notWhole]));
  });

  it("too few and too many files are reported", async () => {
    const files = (count: number) => {
      const body = new FormData();
      body.append("note", "");
      for (let i = 0; i < count; i++) body.append("x", new Blob(["a"]), "a.txt");
      return Test.call(
        Test.app([
          post(Path.root, { inputs: { x: Form.File.list("x", bounds) }, returns: Returns.text }, ({ x }) =>
            String(x.length),
          ),
        ]),
        "POST",
        "/",
        { body },
      );
    };
    expect((await files(0)).body).toBe(invalid(["form.x", "too_few", few]));
    expect((await files(2)).body).toBe("2");
    expect((await files(3)).body).toBe(invalid(["form.x", "too_many", many]));
  });
});

describe("schemas next to other inputs", () => {
  const id = Path.param("id", limit);
  const inputs = { id: param(id), page: Query.required("page", limit), size: Header.optional("x-size", limit) };
  const route = get(
    Path.of("a", id),
    { inputs, returns: Returns.text },
    ({ id, page, size }) => `${id} ${page} ${size}`,
  );

  it("report all problems of a request at once", async () => {
    const { body } = await Test.call(Test.app([route]), "GET", "/a/0?page=x", { headers: { "x-size": "101" } });
    expect(body).toBe(
      invalid(
        ["path.id", "too_small", tooSmall],
        ["query.page", "malformed", notWhole],
        ["header.x-size", "too_large", "This must be at most 100."],
      ),
    );
  });

  it("are optional like codecs", async () => {
    const absent = await Test.call(Test.app([route]), "GET", "/a/1");
    expect(absent.body).toBe(invalid(["query.page", "required", "This is required."]));
    expect((await Test.call(Test.app([route]), "GET", "/a/1?page=2")).body).toBe("1 2 undefined");
  });

  it.each(["/a/%ff", "/a/%f", "/a/%"])("%s in a path is no number", async (target) => {
    const { status, body } = await Test.call(Test.app([route]), "GET", `${target}?page=1`);
    expect([status, body]).toEqual([400, invalid(["path.id", "malformed", notWhole])]);
  });

  it("report a text that is not UTF-8 as not a text", async () => {
    const x = Query.required("x", v.pipe(v.string(), v.minLength(5)));
    expect((await Test.call(app({ x }), "GET", "/?x=%ff")).body).toBe(
      invalid(["query.x", "malformed", "This is not text."]),
    );
  });

  it.each([
    ["query", Query.default("x", limit, 20)],
    ["header", Header.default("x", limit, 20)],
    ["form", Form.default("x", limit, 20)],
    ["form", Form.default("x", Codec.int, 20)],
  ])("have a default in the %s", async (_place, x) => {
    expect((await Test.call(app({ x }), "POST", "/")).body).toBe("number 20");
  });

  it("refuse a value, and Dep.join then does not run", async () => {
    const page = Dep.join({ limit: Query.default("limit", limit, 20) }, ({ limit }) => limit * 2);
    expect((await Test.call(app({ page }), "GET", "/")).body).toBe("number 40");
    expect((await Test.call(app({ page }), "GET", "/?limit=0")).body).toBe(
      invalid(["query.limit", "too_small", tooSmall]),
    );
  });

  it("pass a path parameter on to the next route, also when a limit is exceeded", async () => {
    const small = Path.param("id", limit, { unparsed: "next-route" });
    const other = Path.str("id");
    const routes = [
      get(Path.of("a", small), { inputs: { id: param(small) }, returns: Returns.text }, ({ id }) => `small ${id}`),
      get(Path.of("a", other), { inputs: { id: param(other) }, returns: Returns.text }, ({ id }) => `other ${id}`),
    ];
    const answers = ["/a/1", "/a/101", "/a/x"].map(
      async (target) => (await Test.call(Test.app(routes), "GET", target)).body,
    );
    expect(await Promise.all(answers)).toEqual(["small 1", "other 101", "other x"]);
  });

  it("keep their own result if a check itself reads a text", () => {
    const codec = codecFor(
      v.pipe(
        v.string(),
        v.check((text) => text.length < 2 || !codec.parse(text.slice(1)).ok),
      ),
      "query.x",
    );
    expect(["a", "ba", "cba", "dcba"].map((text) => codec.parse(text).ok)).toEqual([true, false, true, false]);
  });
});

describe("cookies of a schema", () => {
  const theme = Cookie.named("theme", v.picklist(["dark", "light"]));
  const seen = Cookie.signed(Keys.ring("k".repeat(43)), "seen", Shape.instant);

  it("are printed in the form that they are read", async () => {
    expect(Cookie.make(theme, "dark").value).toBe("dark");
    expect(() => Cookie.make(theme, "blue" as "dark")).not.toThrow("blue");
    const sealed = await Cookie.make(seen, new Date(0)).seal?.(new Date());
    const { body } = await Test.call(app({ seen: Cookie.required(seen) }), "GET", "/", {
      headers: { cookie: `seen=${sealed}` },
    });
    expect(body).toBe("object 1970-01-01T00:00:00.000Z");
  });
});

/** The API document of schemas of other libraries than Valibot, by Standard JSON Schema. */
import { type } from "arktype";
import * as S from "effect/Schema";
import * as v from "valibot";
import * as z from "zod";
import { describe, expect, it } from "vitest";
import { App, Event, Openapi, Path, Returns, Shape, Socket, get, json, post } from "usher-http";
import type { Route } from "usher-http";
import { compiler } from "./ajv.ts";
import { described, operation } from "./described.ts";
import { wrongWith } from "./official.ts";
import { arktype, effects, zod } from "../schema/libraries.ts";

type Standard = Shape.StandardSchema;

const reading = (schema: Standard, path = "a"): Route =>
  post(Path.of(path), { inputs: { body: json(schema) }, returns: Returns.text }, () => "");
const writing = (schema: Standard, path = "a"): Route =>
  get(Path.of(path), { returns: Returns.json(schema) }, () => undefined);

const bodyOf = (document: Openapi.Document, path = "/a"): object => {
  const described = document.paths[path]?.["post"] as ReturnType<typeof operation> | undefined;
  return described?.requestBody?.content["application/json"]?.schema as object;
};

const good = { item: "pen", count: 3, tags: ["a"], state: "new", buyer: { name: "Kim" } };

describe.each([zod, arktype, effects])(
  "a route with schemas of $name",
  ({ name, order, tree, union, record, length, day }) => {
    it("has a valid document, in either version", async () => {
      const all = [order, tree, union, record].flatMap((schema, index) => [
        reading(schema as Standard, `in${index}`),
        writing(schema as Standard, `out${index}`),
      ]);
      const kind = Event.json("tree", tree as Standard);
      const protocol = Socket.protocol({
        client: Socket.json(tree as Standard),
        server: Socket.json(order as Standard),
      });
      all.push(
        get(Path.of("events"), { returns: Returns.events([kind]) }, () => async () => {}),
        get(Path.of("room"), { returns: Returns.websocket(protocol) }, () => async () => {}),
      );
      for (const openapi of ["3.1", "3.2"] as const) expect(await wrongWith(described(all, { openapi }))).toEqual([]);
    });

    it.each<readonly [what: string, sent: unknown, fits: boolean]>([
      ["good", good, true],
      ["none", {}, false],
      ["short", { ...good, item: "" }, false],
      ["a fraction", { ...good, count: 1.5 }, false],
      ["too small", { ...good, count: 0 }, false],
      ["of another word", { ...good, state: "gone" }, false],
      ["wrong within", { ...good, buyer: { name: 7 } }, false],
    ])("describes an order that is %s as the library validates it", (_what, sent, fits) => {
      const document = described([reading(order as Standard)]);
      expect(compiler(document)(bodyOf(document))(sent)).toBe(fits);
      expect("issues" in ((order as Standard)["~standard"].validate(sent) as object)).toBe(!fits);
    });

    it("makes a component of a recursive part, and leaves no definitions inside of the schema", () => {
      const document = described([reading(tree as Standard), writing(tree as Standard, "b")]);
      const validate = compiler(document)(bodyOf(document));
      expect(validate({ label: "a", below: [{ label: "b", below: [{ label: "c", below: [] }] }] })).toBe(true);
      expect(validate({ label: "a", below: [{ label: "b", below: [{ label: 7, below: [] }] }] })).toBe(false);
      expect(JSON.stringify(document)).not.toMatch(/\$defs|\$schema|"#"|"#\/\$/);
      expect(JSON.stringify(document.components.schemas)).not.toMatch(/__schema|intersection|Objects_/);
      expect(JSON.stringify(described([reading(tree as Standard)]))).toBe(
        JSON.stringify(described([reading(tree as Standard)])),
      );
    });

    it("has its name as a component", () => {
      const named = (schema: Standard, text: string) => Shape.named(`${name} ${text}`, schema);
      const [Order, Tree] = [named(order as Standard, "order"), named(tree as Standard, "tree")];
      const { components } = described([reading(Order), writing(Order, "b"), reading(Tree, "c"), reading(Tree, "d")]);
      const [first = ""] = name;
      const title = `${first.toUpperCase()}${name.slice(1)}`;
      expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining([`${title}Order`, `${title}Tree`]));
    });

    it("describes the request and the answer", () => {
      expect(bodyOf(described([reading(length as Standard)]))).toMatchObject({ type: "string" });
      expect(bodyOf(described([reading(day as Standard)]))).toMatchObject({ type: "string" });
    });
  },
);

describe("a schema whose library has no JSON Schema", () => {
  const bare = { "~standard": { version: 1, vendor: "odd", validate: () => ({ value: 1 }) } } as unknown as Standard;
  const plainEffect = S.toStandardSchemaV1(S.String);
  const broken = (made: unknown) =>
    ({ "~standard": { ...bare["~standard"], jsonSchema: { input: () => made, output: () => made } } }) as Standard;

  it.each<readonly [what: string, route: Route, said: string]>([
    [
      "has none",
      reading(bare),
      "POST /a has for its body a schema of odd that has no JSON Schema (~standard.jsonSchema), use a version of its library that has it, or give it one with Shape.described",
    ],
    [
      "is Effect's alone",
      reading(plainEffect),
      "has no JSON Schema (~standard.jsonSchema): use Schema.toStandardJSONSchemaV1, ",
    ],
    [
      "throws",
      writing(z.string().transform(Number)),
      "GET /a has for its answer a schema whose library, zod, makes no JSON Schema of it (Transforms cannot be represented in JSON Schema): give it one with Shape.described",
    ],
    ["throws for a Date", reading(z.object({ at: z.date() })), "(Date cannot be represented in JSON Schema)"],
    ["makes text", reading(broken("text")), "a schema whose library, odd, made no JSON Schema of it"],
    ["makes a function", reading(broken({ type: () => 1 })), "a schema whose library, odd, made no JSON Schema of it"],
    [
      "refers to nothing",
      reading(broken({ $ref: "#/$defs/Gone" })),
      "a JSON Schema with a $ref that leads nowhere within it",
    ],
    [
      "refers to another document",
      reading(broken({ $ref: "https://a/b" })),
      "a JSON Schema with a $ref that leads nowhere within it",
    ],
  ])("because it %s is refused with the route and a solution", (_what, route, said) => {
    expect(() => Openapi.document([route])).toThrow(said);
    expect(() => App.make([route, ...Openapi.docs([route], { script: () => "" })])).toThrow(said);
    expect(Openapi.report([route])).toEqual([]);
  });

  it("can be described by hand", () => {
    const Length = Shape.described(z.string().transform(Number), {
      input: { type: "string" },
      output: { type: "number" },
    });
    const Odd = Shape.described(bare, { type: "object", properties: { next: { $ref: "#" } } });
    const document = described([reading(Length), writing(Length, "b"), reading(Odd, "c")]);
    expect(bodyOf(document)).toEqual({ type: "string" });
    expect(JSON.stringify(document.paths["/b"])).toContain('{"type":"number"}');
    expect(bodyOf(document, "/c")).toEqual({ $ref: "#/components/schemas/Schema1" });
    expect(document.components.schemas["Schema1"]).toEqual({
      type: "object",
      properties: { next: { $ref: "#/components/schemas/Schema1" } },
    });
  });

  it("can be described by hand inside of a shape of Valibot, too", () => {
    const Even = Shape.described(
      v.pipe(
        v.number(),
        v.check((n) => n % 2 === 0),
      ),
      { type: "number", multipleOf: 2 },
    );
    const shape = v.object({ even: Even, positive: v.pipe(Even, v.minValue(1), v.brand("positive")) });
    const route = post(Path.of("a"), { inputs: { body: json(shape) }, returns: Returns.text }, () => "");
    const number = { type: "number", multipleOf: 2 };
    expect(bodyOf(described([route]))).toMatchObject({
      properties: { even: number, positive: { ...number, minimum: 1 } },
    });
  });

  it.each([undefined, null, "text", 7])("and has %s as its description: a TypeError", (given) => {
    expect(() => Shape.described(z.string(), given as never)).toThrow(
      "Shape.described: the JSON Schema must be an object",
    );
  });
});

describe("a member whose name is a keyword", () => {
  it("refers to components like any other member", () => {
    const form = {
      type: "object",
      properties: { default: { $ref: "#" }, enum: { $ref: "#/$defs/Word" }, properties: { type: "string" } },
      default: { $ref: "#" },
      $defs: { Word: { type: "string" } },
    };
    const schema = {
      "~standard": {
        version: 1,
        vendor: "odd",
        validate: () => ({ value: 1 }),
        jsonSchema: { input: () => form, output: () => form },
      },
    } as unknown as Standard;
    const { components } = described([reading(schema)]);
    expect(components.schemas["Word"]).toEqual({ type: "string" });
    expect(components.schemas["Schema1"]).toEqual({
      type: "object",
      properties: {
        default: { $ref: "#/components/schemas/Schema1" },
        enum: { $ref: "#/components/schemas/Word" },
        properties: { type: "string" },
      },
      default: { $ref: "#" },
    });
  });
});

describe("names", () => {
  const Kim = z.object({ name: z.string() }).meta({ id: "Person" });
  const Other = z.object({ age: z.number() }).meta({ id: "Other" });

  it("that an author gave a part are shared if the parts are the same, and numbered if they differ", () => {
    const Twin = type({ name: "number" });
    const one = described([reading(z.object({ a: Kim })), reading(z.object({ b: Kim, c: Other }), "b")]);
    expect(Object.keys(one.components.schemas)).toEqual(expect.arrayContaining(["Person", "Other"]));
    const many = described([reading(z.object({ a: Kim })), reading(Shape.named("Person 2", Twin), "b")]);
    expect(Object.keys(many.components.schemas)).toEqual(expect.arrayContaining(["Person", "Person2"]));
  });

  it("that an author gave two shapes are refused", () => {
    const Twin = Shape.named("twin", z.object({ a: z.string() }));
    const Sister = Shape.named("twin", z.object({ a: z.number() }));
    expect(() => described([reading(Twin), reading(Sister, "b")])).toThrow("two different shapes are named Twin");
  });
});

describe("examples", () => {
  it("are validated by the library", () => {
    const Order = z.object({ count: z.string().transform(Number).pipe(z.number()) });
    const returns = Returns.json(Order, { examples: [{ count: "7" }] });
    const route = post(
      Path.of("a"),
      { inputs: { body: json(Order, { examples: [{ count: "7" }] }) }, returns },
      ({ body }) => ({ count: String(body.count) }),
    );
    const { requestBody, responses } = operation(route);
    expect(requestBody?.content["application/json"]?.examples).toEqual({ 0: { value: { count: "7" } } });
    expect(responses[200]?.content?.["application/json"]?.examples).toEqual({ 0: { value: { count: 7 } } });
    const wrong = post(
      Path.of("a"),
      { inputs: { body: json(Order, { examples: [{ count: 7 as never }] }) }, returns: Returns.text },
      () => "",
    );
    expect(() => described([wrong])).toThrow("POST /a has an example body that its shape refuses: body.count");
  });

  it("of a schema that validates asynchronously cannot be checked, and are shown", () => {
    const Name = z.string().refine(async () => true);
    const route = post(
      Path.of("a"),
      { inputs: { body: json(Name, { examples: ["free"] }) }, returns: Returns.text },
      () => "",
    );
    expect(operation(route).requestBody?.content["application/json"]?.examples).toEqual({ 0: { value: "free" } });
  });
});

it.each([undefined, "Tree"])(
  "a schema is only a reference to a part that refers to the whole: its name is %s",
  async (name) => {
    const form = { $ref: "#/$defs/Node", $defs: { Node: { type: "object", properties: { next: { $ref: "#" } } } } };
    const Nested = Shape.described(z.any(), form);
    const document = described([reading(name === undefined ? Nested : Shape.named(name, Nested))]);
    const reference = { $ref: `#/components/schemas/${name ?? "Node"}` };
    expect(bodyOf(document)).toEqual(reference);
    const { Problem: _problem, Refusal: _refusal, ...schemas } = document.components.schemas;
    expect(schemas).toEqual({ [name ?? "Node"]: { type: "object", properties: { next: reference } } });
  },
);

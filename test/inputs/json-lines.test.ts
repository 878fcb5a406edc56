/** JSON lines that are read as they arrive: valid lines, and problems of a line (rows JL). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Body, Dep, Path, Returns, Test, jsonLines, post } from "usher-http";
import type { Problem } from "usher-http";
import { logged } from "../support/logs.ts";
import { invalid, unsupported } from "../support/refusals.ts";
import { Any, listed, noted, sent, type } from "./lines.ts";

const Order = v.object({ item: v.string(), quantity: v.pipe(v.number(), v.integer(), v.minValue(1)) });

describe("JSON lines: what is read", () => {
  it.each<[id: string, body: string, values: unknown[]]>([
    ["JL-01 a value on each line", '{"a":1}\n[2]\n"three"\n', [{ a: 1 }, [2], "three"]],
    ["JL-02 no line feed at the end", "1\n2", [1, 2]],
    ["JL-03 no lines", "", []],
    ["JL-04 blank lines are left out", "\n1\n\n \t\r\n2\n\n", [1, 2]],
    ["JL-05 CRLF ends a line too", "1\r\n2\r\n", [1, 2]],
    ["JL-06 white space around a value", " 1 \n\t2\t\n", [1, 2]],
    ["JL-07 an escaped line feed is no line's end", '"a\\nb"\n', ["a\nb"]],
    ["JL-08 the line separators of JavaScript end no line", '"a\u2028b\u2029c\u0085"\n', ["a\u2028b\u2029c\u0085"]],
    ["JL-09 null is a value", "null\n1\n", [null, 1]],
    ["JL-10 text of any planes", '"é🙂"\n', ["é🙂"]],
  ])("%s", async (_id, body, values) => {
    expect(await sent(listed(Any), body)).toEqual([200, JSON.stringify(values)]);
  });

  it("JL-11 a request without a body has no lines", async () => {
    const answer = await Test.call(Test.app([listed(Any)]), "POST", "/lines", { headers: type });
    expect([answer.status, answer.json()]).toEqual([200, []]);
  });

  it.each([
    "application/x-ndjson",
    "application/jsonl",
    "Application/X-NDJSON; charset=utf-8",
    "application/jsonl;charset=latin1",
  ])("JL-12 %s is read", async (type) => {
    expect(await sent(listed(Any), "1\n", { "content-type": type })).toEqual([200, "[1]"]);
  });

  it.each(["application/json", "application/ndjson+json", "text/plain", "application/x-ndjson, text/plain", "x"])(
    "JL-13 %s is a 415",
    async (type) => {
      expect(await sent(listed(Any), "1\n", { "content-type": type })).toEqual([415, unsupported]);
    },
  );

  it("JL-13 a body without a content type is a 415", async () => {
    expect(await sent(listed(Any), "1\n", {})).toEqual([415, unsupported]);
  });
});

const problem = (at: string, code: string, message: string): readonly [string, string, string] => [at, code, message];

describe("JSON lines: a line that does not fit the shape", () => {
  it.each<[id: string, body: string | Uint8Array, problems: readonly (readonly [string, string, string])[]]>([
    ["JL-20 no JSON", '{"item":"a","quantity":1}\nnope\n', [problem("body.line[2]", "malformed", "This is not JSON.")]],
    ["JL-20 half a value", '{"item":\n"a"}\n', [problem("body.line[1]", "malformed", "This is not JSON.")]],
    ["JL-20 two values", "{} {}\n", [problem("body.line[1]", "malformed", "This is not JSON.")]],
    [
      "JL-21 each problem of the line",
      '\n\n{"item":1,"quantity":0}\n{"item":2}\n',
      [
        problem("body.line[3].item", "unexpected_type", "This must be text, not a number."),
        problem("body.line[3].quantity", "too_small", "This must be at least 1."),
      ],
    ],
    ["JL-22 a byte order mark", "\ufeff{}\n", [problem("body.line[1]", "malformed", "This is not JSON.")]],
    [
      "JL-23 bytes that are not UTF-8",
      Uint8Array.of(0x0a, 0x22, 0xff, 0x22, 0x0a),
      [problem("body.line[2]", "malformed", "This is not JSON.")],
    ],
    ["JL-24 a CR alone ends no line", '"a"\r"b"\n', [problem("body.line[1]", "malformed", "This is not JSON.")]],
    ["JL-25 NUL", "\0\n", [problem("body.line[1]", "malformed", "This is not JSON.")]],
  ])("%s is a 400 with the line's number", async (_id, body, problems) => {
    expect(await sent(listed(Order), body)).toEqual([400, invalid(...problems)]);
  });

  it("JL-26 the handler received the lines before it", async () => {
    const given: unknown[] = [];
    const route = post(
      Path.of("lines"),
      { inputs: { orders: jsonLines(Order, { max: 1000 }) }, returns: Returns.empty() },
      async ({ orders }) => {
        for await (const order of orders) given.push(order.item);
      },
    );
    const [status] = await sent(route, '{"item":"a","quantity":1}\n{"item":"b","quantity":2}\nx\n');
    expect([status, given]).toEqual([400, ["a", "b"]]);
  });
});

describe("JSON lines: a handler that reads on after a wrong line", () => {
  it("JL-27 read() continues after it, and its text is not in the detail", async () => {
    const body = '1\n"s3cret"\n2\n{"s3cret":1}\n3';
    expect(await sent(noted(v.number()), body)).toEqual([
      200,
      JSON.stringify([1, "2: body.line[2] unexpected_type", 2, "4: body.line[4] unexpected_type", 3]),
    ]);
    expect(logged().join()).not.toContain("s3cret");
  });

  it("JL-28 a handler may report the problems of every line", async () => {
    const route = post(
      Path.of("lines"),
      { inputs: { numbers: jsonLines(v.number(), { max: 1000 }) }, returns: Returns.empty() },
      async ({ numbers }) => {
        const problems: Problem[] = [];
        for (let read = await numbers.read(); !read.ok || read.value !== undefined; read = await numbers.read()) {
          if (read.ok) continue;
          if (read.error.kind !== "invalid") return Body.refusal(read.error);
          problems.push(...read.error.problems);
        }
        return problems.length > 0 ? Dep.problems(problems) : undefined;
      },
    );
    const notNumber = "This must be a number, not text.";
    expect(await sent(route, '"a"\n1\n"b"\n')).toEqual([
      400,
      invalid(["body.line[1]", "unexpected_type", notNumber], ["body.line[3]", "unexpected_type", notNumber]),
    ]);
  });

  it("JL-29 lists at most maxProblems problems of a line", async () => {
    const route = listed(v.array(v.number()));
    const { body } = await Test.call(Test.app([route], { maxProblems: 2 }), "POST", "/lines", {
      headers: type,
      body: '["a","b","c","d"]\n',
    });
    expect(JSON.parse(body)).toMatchObject({
      problems: [{ at: "body.line[1][0]" }, { at: "body.line[1][1]" }],
      more: 2,
    });
  });

  it("JL-30 a schema of another library may validate asynchronously", async () => {
    const Even = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: async (value: unknown) =>
          typeof value === "number" && value % 2 === 0 ? { value } : { issues: [{ message: "This is odd." }] },
      },
    } as const;
    const route = post(
      Path.of("lines"),
      { inputs: { values: jsonLines(Even, { max: 1000 }) }, returns: Returns.json(Any) },
      async ({ values }) => {
        const all: unknown[] = [];
        for await (const value of values) all.push(value);
        return all;
      },
    );
    expect(await sent(route, "2\n4\n")).toEqual([200, "[2,4]"]);
    expect(await sent(route, "2\n3\n4\n")).toEqual([400, invalid(["body.line[2]", "malformed", "This is odd."])]);
  });
});

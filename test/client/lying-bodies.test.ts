/** Bodies of servers that are not Usher's, or lie: what a program reads has the types that it was promised. */
import { describe, expect, it } from "vitest";
import { Client } from "usher-http";

interface AnyOutcome {
  readonly ok: boolean;
  readonly error?: string;
  readonly problems?: unknown;
  readonly more?: unknown;
  readonly value?: unknown;
}

/** The outcome of a call whose response has this body. */
function outcome(status: number, type: string, body: string | Uint8Array<ArrayBuffer> | null): Promise<AnyOutcome> {
  const response = () => Promise.resolve(new Response(body, { status, headers: { "content-type": type } }));
  const api = Client.of({ baseUrl: "http://h", fetch: response }) as unknown as {
    readonly [call: string]: () => Promise<AnyOutcome>;
  };
  return (api["GET /a"] as () => Promise<AnyOutcome>)();
}

const problem = { at: "query.a", code: "malformed", message: "This is not a number." };

describe("the problems of a refusal", () => {
  it.each([
    ["a text", "no", []],
    ["null", null, []],
    ["an object", { length: 1, 0: problem }, []],
    ["true", true, []],
    ["a list of other things", [null, 1, "a", [], { at: {} }, { ...problem, message: 5 }, problem], [problem]],
    ["a list of problems", [problem, { ...problem, at: "body.b" }], [problem, { ...problem, at: "body.b" }]],
  ])("are a list of problems, where it sends %s", async (_what, problems, read) => {
    const body = JSON.stringify({ error: "invalid", message: "No.", problems, more: "many" });
    const refused = await outcome(400, "application/json", body);
    expect(refused).toMatchObject({ ok: false, error: "invalid", problems: read });
    expect(refused).not.toHaveProperty("more");
  });
});

it("a 204 that names a type has no value", async () => {
  expect(await outcome(204, "application/json", null)).toMatchObject({ ok: true, value: undefined });
  expect(await outcome(200, "application/json", "")).toMatchObject({ ok: false, error: "unreachable" });
});

it("JSON lines that end in the middle of a character throw", async () => {
  const bytes = new TextEncoder().encode("1\n2é").subarray(0, 4);
  const { value } = await outcome(200, "application/x-ndjson", bytes);
  const got: unknown[] = [];
  await expect(
    (async () => {
      for await (const line of value as AsyncIterable<unknown>) got.push(line);
    })(),
  ).rejects.toThrow(SyntaxError);
  expect(got).toEqual([1]);
});

/** Answers of tools at their limits: empty, of the maximum length, and longer. */
import { Codec, Event, Meta, Path, Query, RefusalFormat, Returns, Test, get } from "usher-http";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { messages } from "../../support/logs.ts";
import { ask, callTool, ownOf } from "./asking.ts";

const about = { name: "answers", version: "1" };

it("JSON lines without a line are an empty list", async () => {
  const meta = Meta.tool({ name: "it" });
  const lines = get(
    Path.of("it"),
    { meta, returns: Returns.jsonLines(v.object({ id: v.number() })) },
    async function* () {
      yield* [] as { id: number }[];
    },
  );
  expect(await callTool(Test.app([lines, ...Mcp.routes([lines], about)]), "it")).toEqual({
    content: [{ type: "text", text: "[]" }],
    structuredContent: { result: [] },
  });
});

it("Test.mcp reports a refusal that is not JSON", async () => {
  const meta = Meta.tool({ name: "it" });
  const route = get(
    Path.of("it"),
    { meta, inputs: { n: Query.required("n", Codec.int) }, returns: Returns.text },
    String,
  );
  const refusalFormat = RefusalFormat.text({ contentType: "text/plain", write: ({ error }) => `refused: ${error}` });
  const agent = Test.mcp(Test.app([route, ...Mcp.routes([route], about)], { refusalFormat }));
  expect(await agent.call("it", {})).toEqual({
    content: [{ type: "text", text: "refused: invalid" }],
    structured: undefined,
    isError: true,
    refusal: undefined,
  });
});

describe("maxAnswer", () => {
  it.each([
    ["é", 50, undefined],
    ["é", 51, "too_large"],
    ["€", 33, undefined],
    ["€", 34, "too_large"],
    ["😀", 25, undefined],
    ["😀", 26, "too_large"],
  ])("an answer of %s is as long as its bytes: %i", async (character, count, error) => {
    const long = get(Path.of("long"), { meta: Meta.tool({ name: "long" }), returns: Returns.text }, () =>
      character.repeat(count),
    );
    const app = Test.app([long, ...Mcp.routes([long], { ...about, maxAnswer: 100 })]);
    const { content, isError } = await callTool(app, "long");
    expect(isError === true ? JSON.parse(content[0]?.text ?? "") : {}).toMatchObject(
      error === undefined ? {} : { error },
    );
    expect(isError).toBe(error === undefined ? undefined : true);
  });

  it.each([
    ["content", '{"events":[{"event":"note","data":"a"}],"isCut":true}', undefined],
    ["progress", '{"error":"too_large","message":"The answer is longer than a tool may give."}', true],
  ] as const)(
    "an event that is too long ends a stream of %s, and is not a failure of its route",
    async (events, text, isError) => {
      const Note = Event.text("note");
      const notes = get(
        Path.of("notes"),
        { meta: Meta.tool({ name: "notes", events }), returns: Returns.events([Note]) },
        () => async (send) => {
          for (const text of ["a", "b".repeat(101), "c"]) await send(Event.make(Note, text));
        },
      );
      const app = Test.app([notes, ...Mcp.routes([notes], { ...about, maxAnswer: 100 })]);
      const answered = await ask(app, "tools/call", { name: "notes", _meta: { progressToken: 1 } });
      const last = answered.body.slice(answered.body.lastIndexOf('{"jsonrpc"'));
      expect(ownOf(JSON.parse(last))).toEqual({ content: [{ type: "text", text }], ...(isError && { isError }) });
      expect(messages("error")).toEqual([]);
    },
  );
});

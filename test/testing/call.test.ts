/** Apps that are called with no socket (contract's test client; rows TC). */
import * as v from "valibot";
import { expect, it } from "vitest";
import { Answer, Path, Returns, Test, get } from "usher-http";
import "../support/logs.ts";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");

it("TC-01 a table of routes that is refused is refused where the test's app is made", () => {
  expect(() => Test.app([hello, hello])).toThrow("GET /hello and GET /hello could both answer one URL");
});

it("TC-06 a stream that waits is released where its reader stops", async () => {
  let released = false;
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("data: first\n\n")),
    cancel: () => void (released = true),
  });
  const route = get(Path.of("stream"), { returns: Returns.response }, () =>
    Answer.stream(stream, { contentType: "text/event-stream" }),
  );
  const seen: string[] = [];
  const read = await Test.events(Test.app([route]), "/stream", ({ data }) => {
    seen.push(data);
    return "stop";
  });
  expect([read, seen, released]).toEqual([{ ok: true }, ["first"], true]);
});

it("TC-07 an answer of JSON that is read as events is handed back as the answer", async () => {
  const Item = v.object({ name: v.string() });
  const item = get(Path.of("item"), { returns: Returns.json(Item) }, () => ({ name: "pen" }));
  const read = await Test.events(Test.app([item]), "/item", () => expect.fail("there is no event"));
  expect(read.ok).toBe(false);
  if (!read.ok) expect([read.error.status, read.error.json()]).toEqual([200, { name: "pen" }]);
});

it("TC-07 a stream of another type that is read as events is handed back whole", async () => {
  async function* parts() {
    yield new TextEncoder().encode("data: no event\n\n");
  }
  const route = get(Path.of("stream"), { returns: Returns.response }, () =>
    Answer.stream(parts(), { contentType: "text/plain" }),
  );
  const read = await Test.events(Test.app([route]), "/stream", () => expect.fail("there is no event"));
  expect(read).toMatchObject({ ok: false, error: { status: 200, body: "data: no event\n\n" } });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Dep, Test } from "usher-http";
import { memoryWall } from "../src/memory-wall.ts";
import { routes } from "../src/messages.ts";
import { wall } from "../src/wall.ts";

// The whole app, called without a socket. A call fails if a route answers with something that it does not declare.
const makeApp = (kept = memoryWall()) => Test.app(routes, { resources: [Dep.resource(wall, kept)] });

test("sends a message", async () => {
  const answer = await Test.call(makeApp(), "POST", "/messages", { body: { text: "Hello" } });
  assert.equal(answer.status, 201);
  assert.equal((answer.json() as { text: string }).text, "Hello");
});

test("refuses what the newest message says", async () => {
  const app = makeApp();
  await Test.call(app, "POST", "/messages", { body: { text: "Hello" } });
  const answer = await Test.call(app, "POST", "/messages", { body: { text: "Hello" } });
  assert.equal(answer.status, 409);
  assert.equal((answer.json() as { error: string }).error, "repeated");
});

test("reports what is wrong with a message", async () => {
  const answer = await Test.call(makeApp(), "POST", "/messages", { body: { text: "" } });
  assert.equal(answer.status, 400);
  const { problems } = answer.json() as { problems: { at: string }[] };
  assert.deepEqual(
    problems.map(({ at }) => at),
    ["body.text"],
  );
});

test("streams the newest messages", async () => {
  const kept = memoryWall();
  const app = makeApp(kept);
  const stream = Test.call(app, "GET", "/messages");
  await Test.call(app, "POST", "/messages", { body: { text: "Hello" } });
  // The stream ends with the hub, and then the call has all that was sent.
  kept.news.close();
  assert.match((await stream).body, /^event: newest\ndata: \[.*"text":"Hello".*\]$/m);
});

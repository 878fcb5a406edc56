import assert from "node:assert/strict";
import { test } from "node:test";
import { Test } from "usher-http";
import { routes } from "./routes.ts";

const app = Test.app(routes);

test("says hello", async () => {
  const answer = await Test.call(app, "GET", "/hello");
  assert.equal(answer.status, 200);
  assert.equal(answer.body, "Hello.");
});

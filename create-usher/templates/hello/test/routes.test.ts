import assert from "node:assert/strict";
import { test } from "node:test";
import { Test } from "usher-http";
import { routes } from "../src/routes.ts";

// The whole app, called without a socket. A call fails if a route answers with something that it does not declare.
const app = Test.app(routes);

test("greets in the language that is asked for", async () => {
  assert.equal((await Test.call(app, "GET", "/hello/Ada")).body, "Hello, Ada.");
  assert.equal((await Test.call(app, "GET", "/hello/Ada?language=fr")).body, "Bonjour, Ada.");
});

test("books a table", async () => {
  const answer = await Test.call(app, "POST", "/tables", { body: { name: "Ada", people: 2 } });
  assert.equal(answer.status, 201);
  assert.deepEqual(answer.json(), { message: "Hello, Ada. Your table has 2 seats." });
});

test("refuses more people than a table has seats", async () => {
  const answer = await Test.call(app, "POST", "/tables", { body: { name: "Ada", people: 9 } });
  assert.equal(answer.status, 409);
  assert.deepEqual(answer.json(), { error: "too_many", message: "Our largest table has 8 seats." });
});

test("reports every problem at once", async () => {
  const answer = await Test.call(app, "POST", "/tables", { body: { name: "", people: 0.5 } });
  assert.equal(answer.status, 400);
  const { problems } = answer.json() as { problems: { at: string }[] };
  assert.deepEqual(
    problems.map(({ at }) => at),
    ["body.name", "body.people"],
  );
});

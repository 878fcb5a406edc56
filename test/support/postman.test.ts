import { expect, it } from "vitest";
import { serverOfFile } from "./http-server.ts";
import { runCollection } from "./postman.ts";
import type { Collection } from "./postman.ts";

/** Answers with what it was sent. */
const { url: URL } = await serverOfFile((request, response) => {
  let body = "";
  request.on("data", (part) => (body += String(part)));
  const { method, url, headers } = request;
  request.on("end", () => response.writeHead(201).end(JSON.stringify({ method, url, kind: headers["x-kind"], body })));
});

const run = (item: Collection["item"]) => runCollection({ item }, { URL, KIND: "pen" });

const request = {
  method: "PUT",
  header: [{ key: "x-kind", value: "a {{KIND}}" }],
  body: { mode: "raw", raw: '{"kind":"{{KIND}}"}' },
  url: { raw: "{{URL}}/kinds/{{KIND}}" },
};
const test = (...exec: string[]) => [{ listen: "test", script: { exec } }];

it("fills in variables, its own and those that scripts set", async () => {
  const set = test(
    "pm.globals.set('KIND', JSON.parse(responseBody).kind);",
    "tests['created'] = responseCode.code === 201;",
  );
  const read = test(
    "var { method, url, body } = JSON.parse(responseBody);",
    "tests[method + ' ' + url + ' ' + body] = true;",
  );
  expect(
    await run([
      {
        name: "f",
        item: [
          { name: "a", event: set, request },
          { name: "b", event: read, request },
        ],
      },
    ]),
  ).toEqual([
    { of: "f / a", name: "created", holds: true },
    { of: "f / b", name: 'PUT /kinds/a%20pen {"kind":"a pen"}', holds: true },
  ]);
});

it("runs a folder's scripts after each of its requests", async () => {
  const folder = {
    name: "f",
    event: test("tests['in f'] = true;"),
    item: [
      { name: "a", request },
      { name: "b", request },
    ],
  };
  expect((await run([folder])).map(({ of }) => of)).toEqual(["f / a", "f / b"]);
});

it("counts a check as failed that is false, not a boolean, or throws", async () => {
  const event = test("tests['false'] = false;", "tests['one'] = 1;", "absent();", "tests['later'] = true;");
  const assertions = await run([{ name: "a", event, request }]);
  expect(assertions.map(({ name, holds }) => [name.slice(0, 46), holds])).toEqual([
    ["false", false],
    ["one", false],
    ["the script runs: ReferenceError: absent is not", false],
  ]);
});

it("refuses a script with unsupported code", async () => {
  const event = [{ listen: "prerequest", script: { exec: ["pm.globals.set('KIND', 'cup');"] } }];
  await expect(run([{ name: "a", event, request }])).rejects.toThrow("a has a script that is no test");
});

/** Raw bodies: `body` and `Dep.ofBody` (contract 4.4, 4.5). */
import { describe, expect, it } from "vitest";
import { Dep, Path, Refusal, Returns, Test, body, post, refuse } from "usher-http";
import { invalid, unsupported } from "../support/refusals.ts";
import "../support/logs.ts";

const denied = Refusal.code("denied", { status: 403, doc: "No." });

describe("body", () => {
  const size = post(Path.root, { inputs: { body }, returns: Returns.text }, ({ body }) =>
    Buffer.from(body).toString("hex"),
  );

  it("is the unchanged bytes, whatever the content type", async () => {
    for (const headers of [{}, { "content-type": "a/b" }, { "content-type": "odd" }]) {
      const { body } = await Test.call(Test.app([size]), "POST", "/", { body: Uint8Array.from([0, 255, 10]), headers });
      expect(body).toBe("00ff0a");
    }
  });

  it("is empty if the request has no body", async () => {
    expect((await Test.call(Test.app([size]), "POST", "/")).body).toBe("");
    expect((await Test.call(Test.app([size]), "POST", "/", { body: "" })).body).toBe("");
  });
});

describe("Dep.ofBody", () => {
  const typed = (...contentTypes: string[]) => {
    const text = Dep.ofBody({ contentTypes }, (bytes) => new TextDecoder().decode(bytes));
    return post(Path.root, { inputs: { text }, returns: Returns.text }, ({ text }) => text);
  };

  it.each([
    ["text/csv", "text/csv"],
    ["text/csv", "TEXT/CSV"],
    ["text/csv", "text/csv; charset=utf-8; header=present"],
    ["Text/CSV", "text/csv"],
    ["image/*", "image/png"],
    ["image/*", "image/svg+xml"],
    ["application/*+json", "application/geo+json"],
    ["application/*+JSON", "application/vnd.api+json; a=b"],
  ])("%s takes %s", async (pattern, type) => {
    const { status, body } = await Test.call(Test.app([typed("a/b", pattern)]), "POST", "/", {
      body: "x",
      headers: { "content-type": type },
    });
    expect([status, body]).toEqual([200, "x"]);
  });

  it.each([
    ["text/csv", "text/plain"],
    ["text/csv", "text/csvx"],
    ["image/*", "text/png"],
    ["image/*", "image"],
    ["application/*+json", "application/json"],
    ["application/*+json", "application/+json"],
    ["application/*+json", "text/geo+json"],
    ["text/csv", "text/csv; ="],
    ["text/csv", "text/csv, text/csv"],
    ["text/csv", ""],
  ])("%s refuses %j", async (pattern, type) => {
    const { status, body } = await Test.call(Test.app([typed(pattern)]), "POST", "/", {
      body: "x",
      headers: { "content-type": type },
    });
    expect([status, body]).toEqual([415, unsupported]);
  });

  it("refuses two content types, and a missing one", async () => {
    expect((await Test.call(Test.app([typed("text/csv")]), "POST", "/", { body: "x" })).status).toBe(415);
    const twice = [
      ["content-type", "text/csv"],
      ["content-type", "text/csv"],
    ] as const;
    expect((await Test.call(Test.app([typed("text/csv")]), "POST", "/", { body: "x", headers: twice })).status).toBe(
      415,
    );
  });

  it("may return a refusal or a problem, also as a promise", async () => {
    const answers = [
      () => refuse(denied),
      () => Dep.problem({ at: "body", code: "odd", message: "This is odd." }),
      async () => refuse(denied),
      async () => "later",
    ];
    const expected = [
      '{"error":"denied","message":"No."}',
      invalid(["body", "odd", "This is odd."]),
      '{"error":"denied","message":"No."}',
      "later",
    ];
    for (const [i, answer] of answers.entries()) {
      const parsed = Dep.ofBody({ contentTypes: ["a/b"], refuses: [denied] }, answer);
      const route = post(Path.root, { inputs: { parsed }, returns: Returns.text }, ({ parsed }) => parsed);
      const { body } = await Test.call(Test.app([route]), "POST", "/", {
        body: "x",
        headers: { "content-type": "a/b" },
      });
      expect(body).toBe(expected[i]);
    }
  });
});

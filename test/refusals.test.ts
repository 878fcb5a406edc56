/**
 * Refusals as they are answered and logged (contract 2.4, 2.5, 7; rows RF).
 * Left out: RF-12's `upgrade` header (WebSockets), RF-15 and RF-16 (the API document).
 */
import { describe, expect, it } from "vitest";
import { Path, Refusal, Returns, Test, body, get, post, refuse } from "usher-http";
import type { Code } from "usher-http";
import { busy, internal, notFound, tooLarge, unreadable, unsupported } from "./support/refusals.ts";
import { lines, messages } from "./support/logs.ts";

const code = Refusal.code;
const gone = code("gone", { status: 410, doc: "It went." });

async function refused(refusal: Refusal, codes: readonly Code[] = [refusal.code]) {
  const route = get(Path.of("x", Path.str("id")), { returns: Returns.text, refuses: codes }, () => refusal as never);
  const { status, body, headers } = await Test.call(Test.app([route]), "GET", "/x/1?q=s3cret");
  return { status, body, headers };
}

describe("the answer", () => {
  it.each([
    ["RF-01", refuse(gone, "It went."), 410, '{"error":"gone","message":"It went."}'],
    ["RF", refuse(gone), 410, '{"error":"gone","message":"It went."}'],
    ["RF", refuse(gone, 'Say "hi" \u2028é'), 410, '{"error":"gone","message":"Say \\"hi\\" \u2028é"}'],
    ["RF", refuse(gone, ""), 410, '{"error":"gone","message":""}'],
    ["RF", refuse(Refusal.notFound), 404, notFound],
    [
      "RF",
      refuse(Refusal.invalid),
      400,
      '{"error":"invalid","message":"Some of that request is not what it should be."}',
    ],
    ["RF-09", refuse(Refusal.unreadable), 400, unreadable],
    ["RF-10", refuse(Refusal.tooLarge), 413, tooLarge],
    ["RF-13", refuse(Refusal.unsupportedMediaType), 415, unsupported],
    ["RF", refuse(Refusal.internal), 500, internal],
    ["RF", refuse(Refusal.busy), 503, busy],
    [
      "RF",
      refuse(Refusal.crossOrigin),
      403,
      '{"error":"cross_origin","message":"That request came from another site, so it was not carried out."}',
    ],
    [
      "RF-12",
      refuse(Refusal.upgradeRequired),
      426,
      '{"error":"upgrade_required","message":"This address opens a WebSocket, and nothing else."}',
    ],
  ])("%s %#", async (_id, refusal, status, text) => {
    const { status: answered, body, headers } = await refused(refusal);
    expect([answered, body, headers.get("content-type")]).toEqual([status, text, "application/json"]);
    expect(headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
  });

  it("RF-06 a 401 has its code's challenge", async () => {
    const { status, headers } = await refused(
      refuse(code("nobody", { status: 401, doc: "Nobody.", challenge: 'Test realm="t"' })),
    );
    expect([status, headers.get("www-authenticate")]).toEqual([401, 'Test realm="t"']);
  });

  it("RF-06 so has any other code with one, and no code without", async () => {
    const proxy = await refused(refuse(code("forbidden", { status: 403, doc: "No.", challenge: "Test" })));
    expect(proxy.headers.get("www-authenticate")).toBe("Test");
    expect((await refused(refuse(gone))).headers.get("www-authenticate")).toBeNull();
  });

  it("RF every busy says when to come again", async () => {
    expect((await refused(refuse(Refusal.busy))).headers.get("retry-after")).toBe("1");
    const full = Test.app([post(Path.root, { inputs: { body }, returns: Returns.text }, () => "")], { bodyBudget: 0 });
    expect((await Test.call(full, "POST", "/", { body: "x" })).headers.get("retry-after")).toBe("1");
  });

  it("RF a code is what its name says: two values of one name and meaning are the same code", async () => {
    expect((await refused(refuse(code("gone", { status: 410, doc: "It went." })), [gone])).status).toBe(410);
    expect(messages("error")).toEqual([]);
  });
});

describe("the log", () => {
  const detail = "the sweep took it";
  const down = code("down", { status: 502, doc: "Down." });

  it.each([
    ["RF a 4xx", refuse(gone, "It went.", { detail }), "warn"],
    ["RF a 5xx", refuse(down, "It is down.", { detail }), "error"],
    ["RF busy, which is no bug", refuse(Refusal.busy, "Later.", { detail }), "warn"],
    ["RF internal", refuse(Refusal.internal, "No.", { detail }), "error"],
  ])("%s has its detail there, and nowhere else", async (_what, refusal, level) => {
    const { status, body, headers } = await refused(refusal);
    expect(body + JSON.stringify([...headers])).not.toContain(detail);
    const { name } = refusal.code;
    expect(lines().map((line) => [line["level"], line["message"]])).toEqual([
      [level, `GET /x/1: ${name}: ${detail}`],
      ["info", `GET /x/1 ${status}`],
    ]);
    const fields = {
      "http.request.method": "GET",
      "url.path": "/x/1",
      "framework.refusal.code": name,
      "http.route": "/x/{id}",
    };
    expect(lines()[0]).toMatchObject(fields);
    expect(lines()[1]).toMatchObject(fields);
  });

  it("RF without a detail has the access line alone, with the code", async () => {
    await refused(refuse(gone));
    expect(lines().map((line) => [line["level"], line["framework.refusal.code"]])).toEqual([["info", "gone"]]);
  });
});

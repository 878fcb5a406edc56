/**
 * Liveness and readiness (contract 4.1; rows HL).
 * HL-09 (the database pool) is tested elsewhere.
 */
import { describe, expect, it } from "vitest";
import { Health, Path, Result, Returns, Test, get } from "usher-http";
import { internal, notAllowed } from "./support/refusals.ts";
import { gate } from "./support/gate.ts";
import { lines, logWith, messages } from "./support/logs.ts";

const passes = Health.check("cache", () => Result.ok());
const fails = Health.check("db", () => Result.error("password rejected"));
const text = "text/plain; charset=utf-8";

async function ready(...checks: readonly Health.Check[]) {
  const { status, body, headers } = await Test.call(Test.app([...Health.routes(checks)]), "GET", "/readyz");
  return { status, body, type: headers.get("content-type") };
}

describe("livez", () => {
  it("HL-01 is 200 while the process can answer, and runs no check", async () => {
    let ran = false;
    const check = Health.check("db", () => ((ran = true), Result.error("no")));
    const { status, body, headers } = await Test.call(Test.app([...Health.routes([check])]), "GET", "/livez");
    expect([status, body, headers.get("content-type"), ran]).toEqual([200, "ok", text, false]);
  });
});

describe("readyz", () => {
  it("HL is 200 if every check passes, or there is none", async () => {
    const later = Health.check("later", async () => Result.ok());
    for (const checks of [[], [passes], [passes, later]]) {
      expect(await ready(...checks)).toEqual({ status: 200, body: "ok", type: text });
    }
    expect(messages("warn")).toEqual([]);
  });

  it("HL-03 names the failed checks; the reason is in the log only, and is no error", async () => {
    const expected = {
      status: 503,
      body: '{"error":"not_ready","message":"Not ready: db."}',
      type: "application/json",
    };
    expect(await ready(fails, passes)).toEqual(expected);
    expect(messages("warn")).toEqual(["not ready: db: password rejected"]);
    expect(messages("error")).toEqual([]);
    expect(lines()[0]).toMatchObject({
      "logger.name": "framework.http",
      request_id: expect.stringMatching(/^.{12}$/) as string,
    });
  });

  it("HL-04 lists them in the order of the declaration, whichever ends first", async () => {
    const slow = Health.check("slow", async () => (await Promise.resolve(), Result.error("late")));
    const { body } = await ready(slow, passes, fails);
    expect(body).toBe('{"error":"not_ready","message":"Not ready: slow, db."}');
    expect(messages("warn")).toEqual(["not ready: slow: late", "not ready: db: password rejected"]);
  });

  it("HL a check that throws is a bug, synchronously or not, whatever the others return", async () => {
    const raise = (): never => {
      throw new Error("s3cret");
    };
    for (const probe of [raise, async () => raise()]) {
      expect(await ready(fails, Health.check("bug", probe), passes)).toMatchObject({ status: 500, body: internal });
    }
    expect(JSON.stringify(lines())).not.toContain("s3cret");
  });

  it("is not ready when the server began to stop during the checks", async () => {
    const checked = gate();
    const app = Test.app([...Health.routes([Health.check("db", async () => (await checked.passed, Result.ok()))])]);
    const answering = Test.call(app, "GET", "/readyz");
    await new Promise((resolve) => setImmediate(resolve));
    app.app.drain();
    checked.open();
    expect(await answering).toMatchObject({
      status: 503,
      body: '{"error":"not_ready","message":"Not ready: stopping."}',
    });
  });

  it("HL-06 runs all checks concurrently", async () => {
    let waiting = 0;
    let meet = (): void => {};
    const met = new Promise<void>((resolve) => (meet = resolve));
    // Each waits until the other has begun.
    const probe = async () => {
      if (++waiting === 2) meet();
      await met;
      return Result.ok();
    };
    expect((await ready(Health.check("a", probe), Health.check("b", probe))).status).toBe(200);
  });
});

it("HL-07 may have other paths, and is then only at those", async () => {
  const app = Test.app([...Health.routes([], { live: Path.of("up"), ready: Path.of("in", "ready") })]);
  const statuses = ["/up", "/in/ready", "/livez", "/readyz"].map(
    async (path) => (await Test.call(app, "GET", path)).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 200, 404, 404]);
});

it("may have no check", async () => {
  const app = Test.app([...Health.routes()]);
  const [live, ready] = [await Test.call(app, "GET", "/livez"), await Test.call(app, "GET", "/readyz")];
  expect([live.status, live.body, ready.status, ready.body]).toEqual([200, "ok", 200, "ok"]);
});

it("are ordinary GET routes", async () => {
  const app = Test.app([...Health.routes([])]);
  expect((await Test.call(app, "HEAD", "/livez")).headers.get("content-length")).toBe("2");
  const posted = await Test.call(app, "POST", "/readyz");
  expect([posted.status, posted.body]).toEqual([405, notAllowed]);
});

it("HL-08 have their access lines at debug", async () => {
  const hello = get(Path.of("hello", Path.str("name")), { returns: Returns.text }, () => "");
  const app = Test.app([...Health.routes([fails]), hello]);
  const called = async (): Promise<readonly unknown[]> => {
    for (const path of ["/livez", "/readyz", "/hello/kim"]) await Test.call(app, "GET", path);
    return [messages("debug"), messages("info")];
  };
  expect(await called()).toEqual([[], ["GET /hello/kim 200"]]);
  logWith({ level: "debug" });
  expect(await called()).toEqual([["GET /livez 200", "GET /readyz 503"], ["GET /hello/kim 200"]]);
});

it("a server that stops is alive, and not ready", async () => {
  const tested = Test.app(Health.routes([Health.check("db", () => Result.ok())]));
  expect((await Test.call(tested, "GET", "/readyz")).status).toBe(200);
  tested.app.drain();
  const { status, body } = await Test.call(tested, "GET", "/readyz");
  expect([status, body]).toEqual([503, '{"error":"not_ready","message":"Not ready: stopping."}']);
  expect((await Test.call(tested, "GET", "/livez")).status).toBe(200);
});

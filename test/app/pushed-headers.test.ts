/** What middleware in JavaScript pushes to the lists of one answer is not sent to other clients. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { afterAll, describe, expect, it } from "vitest";
import {
  Answer,
  Dep,
  Event,
  Health,
  Idempotency,
  Openapi,
  Path,
  Refusal,
  Returns,
  Test,
  get,
  post,
  refuse,
} from "usher-http";
import type { Middleware, Route } from "usher-http";
import { Files } from "usher-http/files";

const folder = mkdtempSync(join(tmpdir(), "pushed-"));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "style.css"), "p {}");

const tick = Event.text("tick");
const once = Idempotency.by(Idempotency.memory(), { caller: Dep.return("all"), required: true });
const routes: readonly Route[] = [
  get(Path.of("text"), { returns: Returns.text }, () => "text"),
  get(Path.of("json"), { returns: Returns.json(v.string()) }, () => "json"),
  get(Path.of("empty"), { returns: Returns.empty() }, () => undefined),
  get(Path.of("made"), { returns: Returns.response }, () => Answer.make("made")),
  get(Path.of("refused"), { returns: Returns.text, refuses: [Refusal.notFound] }, () => refuse(Refusal.notFound)),
  get(Path.of("events"), { returns: Returns.events([tick]) }, () => async () => {}),
  get(Path.of("lines"), { returns: Returns.jsonLines(v.string()) }, async function* () {
    yield "line";
  }),
  post(Path.of("once"), { inputs: { once }, returns: Returns.text }, () => "once"),
];
const all = [
  ...routes,
  ...Health.routes(),
  ...Openapi.docs(routes, { title: "Pushed" }),
  ...Files.directory(folder),
  ...Files.bundle({ "logo.svg": "<svg/>" }, { at: "bundle" }),
];

/** Its request is a 500 if the list is shared, and has the header if it is not. */
const pushing =
  (member: "headers" | "cookies"): Middleware =>
  async (request, next) => {
    const answer = await next();
    const pair = member === "headers" ? ["x-pushed", "1"] : { name: "pushed", value: "1" };
    if (request.header("x-push") !== undefined) (answer[member] as unknown[]).push(pair);
    return answer;
  };

const ofRoutes = ["/text", "/json", "/empty", "/made", "/refused", "/events", "/lines", "/nowhere"];
const ofFramework = ["/livez", "/openapi.json", "/docs", "/docs/reader.js", "/style.css", "/bundle/logo.svg"];
const calls = [...ofRoutes, ...ofFramework].map((target) => ["GET", target] as const);

describe.each(["headers", "cookies"] as const)("what middleware pushes to %s", (member) => {
  const app = Test.app(all, { middleware: [pushing(member)] });

  it.each([...calls, ["POST", "/text"] as const, ["POST", "/once"] as const])(
    "of %s %s is not sent to the next client",
    async (method, target) => {
      const headers = [["idempotency-key", "k"]] as const;
      const before = await Test.call(app, method, target, { headers });
      await Test.call(app, method, target, { headers: [...headers, ["x-push", "1"]] });
      const after = await Test.call(app, method, target, { headers });
      expect(after.status).toBe(before.status);
      expect([after.headers.get("x-pushed"), after.headers.get("set-cookie")]).toEqual([null, null]);
    },
  );
});

describe.each(["headers", "problems"] as const)("what middleware pushes to the %s of a refusal", (member) => {
  const middleware: readonly Middleware[] = [
    async (request, next) => {
      const answer = await next();
      const one = member === "headers" ? ["x-pushed", "1"] : { at: "body", code: "pushed", message: "pushed" };
      if (request.header("x-push") !== undefined) (answer.refused?.[member] as unknown[] | undefined)?.push(one);
      return answer;
    },
  ];
  const busy = get(Path.of("busy"), { returns: Returns.text, refuses: [Refusal.busy] }, () => refuse(Refusal.busy));
  const app = Test.app([...all, busy], { middleware });

  it.each(["/refused", "/nowhere", "/busy"])("of %s is not sent to the next client", async (target) => {
    await Test.call(app, "GET", target, { headers: [["x-push", "1"]] });
    const { headers, body } = await Test.call(app, "GET", target);
    expect([headers.get("x-pushed"), body]).toEqual([null, expect.not.stringContaining("pushed")]);
  });
});

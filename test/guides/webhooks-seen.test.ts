/** The page on webhooks: requests that were seen are rows of a table. */
import * as v from "valibot";
import { afterAll, expect, it } from "vitest";
import type * as Usher from "usher-http";
import type * as Database from "usher-http/postgres";
import { startPostgres } from "../support/postgres/database.ts";
import { openGuide } from "./project.ts";

const guide = openGuide("webhooks");
guide.write("package.ts", 'export * from "usher-http";');
guide.write("database.ts", 'export * from "usher-http/postgres";');
const { Path, Returns, Test, Webhook, post } = await guide.load<typeof Usher>("package.ts");
const { Pool } = await guide.load<typeof Database>("database.ts");
const { seenIn } = await guide.load<{ seenIn: (pool: Database.Pool) => Usher.RateStore }>("seen.ts");

const server = await startPostgres();
const pool = await Pool.create(server.url(), { size: 2 });
afterAll(() => pool.close());

it("takes each request once, also of two at the same time and by another app", async () => {
  await pool.query("create table seen (key text primary key, at timestamptz not null default now())");
  const signing = { scheme: "standard", secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] } as const;
  const inputs = { placed: Webhook.verify(v.object({ order: v.number() }), { ...signing, seen: seenIn(pool) }) };
  const routes = [post(Path.of("hooks"), { inputs, returns: Returns.empty() }, () => {})];
  const [body, other] = ['{"order":7}', '{"order":8}'];
  const sent = async (text: string) => ({
    body: text,
    headers: { ...(await Webhook.sign(text, signing)), "content-type": "application/json" },
  });
  const first = await sent(body);
  const status = async (app: Usher.Test.TestApp, request: typeof first) =>
    (await Test.call(app, "POST", "/hooks", request)).status;
  const app = Test.app(routes);
  expect((await Promise.all([status(app, first), status(app, first)])).toSorted()).toEqual([204, 403]);
  expect(await status(Test.app(routes), first)).toBe(403);
  expect(await status(app, await sent(other))).toBe(204);
});

/** Spans of statements, and a pool's figures (contract 2.13; rows TR-19, MT-10, LG-12). */
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { expect, it } from "vitest";
import { Metrics, Path, Returns, Test, get } from "usher-http";
import { Statement, Type } from "usher-http/postgres";
import { logged } from "../../support/logs.ts";
import { startPostgres } from "../../support/postgres/database.ts";
import { kept, named } from "../../telemetry/kept-spans.ts";
import { pools } from "./pools.ts";

const server = await startPostgres();
const pool = pools(server);

const next = Statement.find("select $1 + 1 as next", { params: [Type.int], row: { next: Type.int } });
const wrong = Statement.exec("select $1::text::int", { params: [Type.text] });

it("TR-19 each statement has a span: begin, the statements, commit", async () => {
  const { trace, spans } = kept();
  const db = await pool();
  const work = get(Path.of("work"), { returns: Returns.text }, async () => {
    await db.exec(next, 4711);
    await db.transaction((db) => db.exec(next, 4712));
    await db.exec(wrong, "s3cret");
    return "";
  });
  expect((await Test.call(Test.app([work], { trace }), "GET", "/work")).status).toBe(500);
  const parent = named(spans(), "GET /work").spanContext().spanId;
  const statements = spans().filter(({ name }) => name === "postgresql");
  const texts = statements.map(({ attributes }) => String(attributes["db.query.text"]).split(" ")[0]);
  expect(texts).toEqual(["select", "begin", "select", "commit", "select"]);
  for (const { kind, attributes, parentSpanContext } of statements) {
    expect([kind, attributes["db.system.name"], parentSpanContext?.spanId]).toEqual([
      SpanKind.CLIENT,
      "postgresql",
      parent,
    ]);
  }
  expect(statements[0]?.attributes["db.query.text"]).toBe("select $1 + 1 as next");
  expect(statements.at(-1)?.status).toEqual({ code: SpanStatusCode.ERROR, message: "22P02" });
  expect(statements.map(({ attributes }) => attributes["error.type"])).toEqual([...Array(4), "22P02"]);
  const told = JSON.stringify(spans().map(({ attributes, status, events }) => [attributes, status, events]));
  expect(told).not.toMatch(/\b471[12]\b|s3cret/);
  expect(logged().join("\n")).not.toMatch(/\b471[12]\b|s3cret/);
});

it("MT-10 a pool with metrics is on the page, until it is closed", async () => {
  const app = Test.app(Metrics.routes());
  const db = await pool({ size: 3 });
  db.measure({ name: "reports" });
  const told = async (what: string) => {
    const { body } = await Test.call(app, "GET", "/metrics");
    const line = body.split("\n").find((line) => line.includes('"reports"') && line.includes(what));
    return Number(line?.split(" ").at(-1));
  };
  expect([await told('state="idle"'), await told('state="used"'), await told("pending")]).toEqual([3, 0, 0]);
  await db.use(async () => expect([await told('state="idle"'), await told('state="used"')]).toEqual([2, 1]));
  await db.close();
  expect([await told('state="idle"'), await told('state="used"')]).toEqual([0, 0]);
});

/** The statements of a program are made once for each text; texts that are made again each time take no memory without end. */
import { expect, it } from "vitest";
import { queryStatement } from "../../src/database/query.ts";
import type { QueryTypes } from "../../src/database/queryable.ts";

const types: QueryTypes = {};
const statementOf = (sql: string): unknown => queryStatement("query", sql, [], { types });

it("the statement of a text is the same each time, and is made again after 512 other texts", () => {
  const first = statementOf("select 0");
  expect(statementOf("select 0")).toBe(first);
  for (let i = 1; i < 512; i++) statementOf(`select ${i}`);
  expect(statementOf("select 0")).toBe(first);
  statementOf("select 512");
  expect(statementOf("select 0")).not.toBe(first);
});

it("the statement of a text of more than 8192 characters is made each time", () => {
  const text = `select '${"x".repeat(8192)}'`;
  expect(statementOf(text)).not.toBe(statementOf(text));
});

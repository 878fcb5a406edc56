/** What the text of a query says before it is sent: how many parameters it has, and whether it is one statement (PostgreSQL §4.1). */
import { expect, it } from "vitest";
import { readQueryText } from "../../src/database/query-text.ts";

/** `second`: there are several statements. `unknown`: only the server can tell. */
it.each<readonly [sql: string, reading: number | "second" | "unknown"]>([
  ["", 0],
  ["select 1", 0],
  ["select $1, $2, $10", 10],
  ["select $2 where $1 = '$3'", 2],
  ["select '' || $1", 1],
  ["select 'it''s $2' || $1", 1],
  [`select "a$2" from "t""$3" where a = $1`, 1],
  [String.raw`select e'\'$2' || $1`, 1],
  [String.raw`select '\' || $1`, "unknown"],
  ["select '$1", "unknown"],
  [`select "$1`, "unknown"],
  ["select $$ $1 ; $$", 0],
  ["select $a$ $$ $2 $a$ || $1", 1],
  ["select $a$ $1", "unknown"],
  ["select a$1", 0],
  ["select $1 -- $2\n, $3", 3],
  ["select $1 /* $2 /* $3 */ $4 */", 1],
  ["select $1 /* $2 /* $3 */", "unknown"],
  ["select $1;", 1],
  ["select $1 ; -- a comment\n\t ;; /* another */ \u00a0", 1],
  ["select 1; select 2", "second"],
  ["select 1; 'a'", "second"],
  ["create rule r as on insert to t do (select 1; select 2)", 0],
  ["(select 1); select 2", "second"],
  ["create function f() returns int begin atomic select 1; select 2; end", "unknown"],
])("%j is read as %j", (sql, reading) => {
  const { parameters, hasSecond } = readQueryText(sql);
  expect(hasSecond ? "second" : (parameters ?? "unknown")).toBe(reading);
});

/** No value of a parameter is in the text or the log line of a `DatabaseError`, however the server changed it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DatabaseError, Statement, Type } from "usher-http/postgres";
import type { Pool } from "usher-http/postgres";
import { Path, Returns, Test, get } from "usher-http";
import { logWith, logged } from "../../support/logs.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { pools } from "./pools.ts";
import { rounds } from "../../support/wide.ts";

const server = await startPostgres();
const watch = observer(server);
const pool = pools(server);
await watch.unsafe(`
  create table stock (item text primary key, left_over int not null check (left_over >= 0), "Mixed Case" text);
  create table late (item text);
  create function raised(how text, what text) returns text language plpgsql as $$ begin
    case how
      when 'bare' then raise exception 'there is no % here', what;
      when 'alone' then raise exception '%', what;
      when 'in quotes' then raise exception 'there is no "%" here', what;
      when 'in guillemets' then raise exception '«%» is not »%« or „%“', what, what, what;
      when 'open' then raise exception 'there is no "%', what;
      when 'conflict' then raise exception '%', what using errcode = '40001';
      when 'column' then raise exception 'null value in column "%"', what using errcode = '23502', column = what, table = what;
      when 'query' then execute 'select ' || what;
      when 'qualified' then execute 'select stock.' || what || ' from stock';
      when 'call' then execute 'select ' || what || '(1)';
      else raise exception 'how?';
    end case;
    return '';
  end $$;
  create function raise_late() returns trigger language plpgsql as $$ begin
    raise exception 'late: % "%"', new.item, new.item;
  end $$;
  create constraint trigger late_raise after insert on late deferrable initially deferred
    for each row execute function raise_late();
`);

/** What the server is made to do with the value before it fails of it. */
const changes = [
  "$1::text",
  "upper($1::text)",
  "lower($1::text)",
  "initcap($1::text)",
  "reverse($1::text)",
  "reverse(upper($1::text))",
  "left($1::text, 7)",
  "lower(right($1::text, 6))",
  "substr($1::text, 3, 5)",
  "$1::text || ' ' || $1::text",
  "'public.' || $1::text",
  "quote_ident($1::text)",
  `replace($1::text, '"', '')`,
];
/** What fails of it; `?` is the value. */
const failing = [
  "select (?)::regclass",
  "select (?)::regtype",
  "select (?)::regproc",
  "select (?)::regprocedure",
  "select (? || '(int)')::regprocedure",
  "select ('lower(' || ? || ')')::regprocedure",
  "select (?)::regrole",
  "select (?)::regnamespace",
  "select (?)::regconfig",
  "select (?)::regdictionary",
  "select (?)::regoper",
  "select (?)::regoperator",
  "select (?)::regcollation",
  "select ('a.b.c.' || ?)::regclass",
  "select (?)::tsquery",
  "select to_tsquery('english', ? || ' & & |')",
  "select (? || ' ?')::jsonpath",
  "select (?)::json",
  "select (?)::int",
  "select ('<' || ?)::xml",
  "select xpath(?, '<a/>')",
  "select nextval(?)",
  "select currval(?)",
  "select has_table_privilege(?, 'stock', 'select')",
  "select has_table_privilege('stock', ?)",
  "select has_column_privilege('stock', ?, 'select')",
  "select pg_get_serial_sequence('stock', ?)",
  "select current_setting(?)",
  "select set_config(?, 'on', true)",
  "select set_config('work_mem', ?, true)",
  "select set_config('role', ?, true)",
  "select pg_read_file(?)",
  "select pg_ls_dir(?)",
  "select encode('', ?)",
  "select convert_to('', ?)",
  "select now() at time zone ?",
  "select to_char(now(), ?)::int",
  "select regexp_replace('', '(' || ?, '')",
  "select like_escape('a', ?)",
  "select pg_replication_origin_create(?), pg_replication_origin_create(?)",
  "select pg_drop_replication_slot(?)",
  "select query_to_xml(?, true, true, '')",
  "select query_to_xml('select ' || ?, true, true, '')",
  "select ts_stat(?)",
  "select * from ts_stat('select ' || ?)",
  "insert into stock values (?, null)",
  "insert into stock values (?, -1)",
  "insert into stock select ?, 1 from generate_series(1, 2)",
  "select raised('bare', ?)",
  "select raised('alone', ?)",
  "select raised('in quotes', ?)",
  "select raised('in guillemets', ?)",
  "select raised('open', ?)",
  "select raised('conflict', ?)",
  "select raised('column', ?)",
  "select raised('query', ?)",
  "select raised('qualified', ?)",
  "select raised('call', ?)",
];

// Letters that stand together in no word of the server's, of the statements above or of a stack; and what texts are made of.
const letter = fc.constantFrom(..."qxzjvkQXZJVKéÉ");
const word = fc.array(letter, { minLength: 2, maxLength: 9 }).map((letters) => letters.join(""));
const between = fc.constantFrom("", "", "_", "-", " ", ".", '"', "'", '" "', "«", "»", "(", ", ", "$", "\n");
const value = fc
  .array(fc.tuple(word, between), { minLength: 1, maxLength: 6 })
  .map((parts) => `Qz${parts.map((part) => part.join("")).join("")}xJ`);

/** The pieces of a value of four characters, in lower case, from either end. */
function pieces(value: string): readonly string[] {
  const lower = value.toLowerCase();
  const forwards = Array.from({ length: Math.max(0, lower.length - 3) }, (_, at) => lower.slice(at, at + 4));
  return [...forwards, ...forwards.map((piece) => [...piece].toReversed().join(""))].filter((piece) =>
    /\w/.test(piece),
  );
}

function expectUntold(told: string, value: string): void {
  const lower = told.toLowerCase();
  expect(
    pieces(value).filter((piece) => lower.includes(piece) || lower.includes(JSON.stringify(piece).slice(1, -1))),
  ).toEqual([]);
}

/** Everything that is reported about an error: to the program, and in the log if the program does not catch it. */
async function toldOf(thrown: unknown): Promise<string> {
  expect(thrown).toBeInstanceOf(DatabaseError);
  const { message, stack, failure, refusal, cause } = thrown as DatabaseError;
  logWith({});
  const route = get(Path.root, { summary: "Fails", returns: Returns.text }, () => Promise.reject(thrown as Error));
  const { body } = await Test.call(Test.app([route]), "GET", "/");
  const said = JSON.stringify([message, stack, failure, refusal, cause, Object.entries(thrown as object)]);
  return `${said}\n${message}\n${body}\n${logged().map(withoutIds).join("\n")}`;
}

// What is random in a line may look like anything.
function withoutIds(line: string): string {
  return JSON.stringify(JSON.parse(line), (name, value: unknown) => (name.endsWith("_id") ? "" : value));
}

async function thrownBy(some: Pool, sql: string, value: string): Promise<unknown> {
  return some.exec(Statement.exec(sql, { params: [Type.text] }), value).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("a value in an error of the server", () => {
  it.each(failing)("is in no message and no log line: %s", async (sql) => {
    const some = await pool({ size: 1 });
    let failures = 0;
    await fc.assert(
      fc.asyncProperty(value, fc.constantFrom(...changes), async (value, change) => {
        const statement = sql.replaceAll("?", change);
        const thrown = await thrownBy(some, statement, value);
        if (thrown === undefined) return;
        failures++;
        expectUntold(await toldOf(thrown), value);
      }),
      { numRuns: rounds(25), seed: 18 },
    );
    expect(failures).toBeGreaterThan(0);
  });

  it("is not in an error at the commit", async () => {
    const some = await pool();
    const add = Statement.exec("insert into late values (lower($1))", { params: [Type.text] });
    const thrown = await some.transaction((db) => db.exec(add, "QzxJvkQjZx")).catch((error: unknown) => error);
    expect((thrown as DatabaseError).failure).toEqual({ kind: "not_committed", detail: "ERROR P0001, for commit" });
    expectUntold(await toldOf(thrown), "QzxJvkQjZx");
  });

  it("is not in the message about a row either", async () => {
    const some = await pool();
    await watch`insert into stock values ('secretrow', 1) on conflict do nothing`;
    const thrown = await some.exec(Statement.exec("select item::regclass from stock")).catch((error: unknown) => error);
    expect(await toldOf(thrown)).not.toContain("secretrow");
  });
});

describe("the reported parts of a statement", () => {
  const rows: readonly (readonly [sql: string, value: string, said: string])[] = [
    ["select $1::text from NoWhere", "a secret", 'ERROR 42P01: relation "nowhere" does not exist'],
    ['select $1::text from "No Where"', "a secret", 'ERROR 42P01: relation "No Where" does not exist'],
    ["select $1::text, nme from stock", "a secret", 'ERROR 42703: column "nme" does not exist'],
    ["select $1::text frm stock", "a secret", 'ERROR 42601: syntax error at or near "stock"'],
    ["select $1::text::regclass", "MarkerSecretTable", 'ERROR 42P01: relation "…" does not exist'],
    ["select nextval('no_such')::text || $1", "a secret", 'ERROR 42P01: relation "no_such" does not exist'],
    ["select no_such($1::text, 1)", "a secret", "ERROR 42883: function no_such(text, integer) does not exist"],
    [
      "insert into stock (item) values ($1)",
      "a secret",
      'ERROR 23502: null value in column "left_over" of relation "stock" violates not-null constraint',
    ],
    [
      "insert into stock values ($1, -1)",
      "a secret",
      'ERROR 23514: new row for relation "stock" violates check constraint "stock_left_over_check"',
    ],
    ["select raised('bare', $1)", "Ann Miller", "ERROR P0001: there is no … here"],
    ["select raised('bare', $1)", "12", "ERROR P0001: there is no … here"],
    ["select raised('bare', $1)", "\u00e9", "ERROR P0001: there is no … here"],
    ["select raised('bare', $1)", "es", "ERROR P0001: there is no … here"],
    ["select raised('alone', $1)", "x".repeat(100_000), "ERROR P0001: …"],
  ];
  it.each(rows)("%s", async (sql, value, said) => {
    const thrown = await thrownBy(await pool({ size: 1 }), sql, value);
    expect((thrown as DatabaseError).failure).toMatchObject({ kind: "db", detail: `${said}, for ${sql}` });
  });
});

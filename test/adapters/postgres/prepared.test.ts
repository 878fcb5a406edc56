/** What a statement answers from its second run on, when it goes past the driver. */
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DatabaseError, Statement, Type } from "usher-http/postgres";
import type { StatementResult, ConnectionFailure } from "../../../src/database/connection.ts";
import { parse } from "../../../adapters/postgres/connection-string.ts";
import { openConnection } from "../../../adapters/postgres/connection.ts";
import { loadDriver } from "../../../adapters/postgres/private.ts";
import { PreparedRun, Wire } from "../../../adapters/postgres/protocol.ts";
import { memory } from "../../support/memory.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { pools } from "./pools.ts";
import { codePoint } from "../../support/code-point.ts";

const server = await startPostgres();
const watch = observer(server);
const pool = pools(server);
await watch`create table item (id int primary key, name text)`;

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "nothing was thrown",
    (error: unknown) => (error instanceof DatabaseError ? error.failure : error),
  );

it("the result of a statement can be collected, however long it was", async () => {
  // 40 MB take a busy machine longer than a statement's 15 s.
  const some = await pool({ size: 1, statementTimeoutMs: 300_000 });
  const long = Statement.find("select repeat('x', $1) as long", { params: [Type.int], row: { long: Type.text } });
  // From its second run on it goes past the driver.
  for (let i = 0; i < 2; i++) await some.exec(long, 1);
  const before = await memory();
  expect((await some.exec(long, 40_000_000)).long).toHaveLength(40_000_000);
  expect((await memory()) - before).toBeLessThan(10_000_000);
});

describe("a statement has the same result in every run", () => {
  it.each<[sql: string, code: string | undefined]>([
    ["select n, null as nothing, repeat('x', n) as long from generate_series(1, 3) n", undefined],
    ["select 1 where false", undefined],
    ["insert into item select n from generate_series(7, 11) n", undefined],
    ["update item set name = 'new' where id > 7", undefined],
    ["delete from item", undefined],
    ["create temporary table if not exists mine (id int)", undefined],
    ["begin", undefined],
    ["commit", undefined],
    ["select from item", undefined],
    ["", undefined],
    ["select 1/0", "22012"],
    ["select * from nowhere", "42P01"],
    ["do $$ begin raise notice 'a notice'; perform pg_notify('somewhere', ''); end $$", undefined],
    ["set application_name = 'other'", undefined],
  ])("%s", async (sql, code) => {
    const options = { driver: await loadDriver("prepared.test"), parameters: {}, statementCache: 8 };
    const link = await openConnection(parse(server.url()), options, { closed: () => {} });
    const runs: unknown[] = [];
    for (let run = 0; run < 3; run++) {
      await watch`truncate item`;
      await watch`insert into item values (8, 'eight'), (9, 'nine') on conflict do nothing`;
      if (sql.startsWith("insert")) await watch`truncate item`;
      runs.push(await link.run(sql, []).then(shown, (failed: unknown) => (failed as ConnectionFailure).reason));
    }
    await link.shut();
    // Three answers that are alike as there was none would say nothing.
    expect(runs[0]).toMatchObject(code === undefined ? { rows: expect.any(Array) } : { kind: "refused", code });
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[2]).toEqual(runs[0]);
  });

  // The driver has no word for a statement that is empty.
  function shown(answer: StatementResult): unknown {
    const { columns, command, count } = answer;
    return {
      rows: [...answer],
      columns: columns?.map(({ name, type }) => [name, type]),
      command: command || undefined,
      count,
    };
  }

  it("with any values", async () => {
    const some = await pool({ size: 1 });
    const back = Statement.find("select $1::text as text, $2::int[] as list, $3::bytea as bytes", {
      params: [Type.optional(Type.text), Type.array(Type.int), Type.bytes],
      row: { text: Type.optional(Type.text), list: Type.array(Type.int), bytes: Type.bytes },
    });
    const text = fc
      .option(fc.string({ unit: "grapheme", maxLength: 3000 }), { nil: undefined })
      .filter((text) => !text?.includes("\0"));
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.integer({ min: -5, max: 5 })), fc.uint8Array(), async (text, list, bytes) => {
        const row = await some.exec(back, text, list, bytes);
        expect(row).toEqual({ text, list, bytes });
        // A column that is NULL is there too.
        expect(Object.keys(row)).toEqual(["text", "list", "bytes"]);
      }),
    );
  });
});

describe("a statement that the server has deallocated", () => {
  const read = Statement.find("select id from item order by id", { row: { id: Type.int } });

  it("is prepared again and run", async () => {
    const some = await pool({ size: 1, reset: "never" });
    await watch`truncate item`;
    await watch`insert into item values (1)`;
    for (let run = 0; run < 4; run++) {
      expect(await some.exec(read)).toEqual({ id: 1 });
      if (run === 1) await some.use((db) => db.exec(Statement.exec("deallocate all")));
    }
    expect(some.stats()).toMatchObject({ replaced: 0 });
  });

  it("in a transaction fails it, with an error; after it, it is prepared again", async () => {
    const some = await pool({ size: 1, reset: "never" });
    for (let run = 0; run < 2; run++) await some.exec(read);
    const done = some.transaction(async (db) => {
      await db.exec(Statement.exec("deallocate all"));
      expect(await failure(db.exec(read))).toMatchObject({ code: "26000" });
      expect(await failure(db.exec(read))).toMatchObject({ kind: "db" });
    });
    expect(await failure(done)).toMatchObject({ kind: "not_committed" });
    for (let run = 0; run < 3; run++) expect(await some.exec(read)).toEqual({ id: 1 });
  });

  it.each(["alter table changed add more int", "alter table changed alter id type text"])(
    "after %j it fails one transaction, and not the next",
    async (change) => {
      await watch.unsafe("drop table if exists changed; create table changed (id int); insert into changed values (1)");
      const all = Statement.list("select * from changed", {
        row: { id: Type.custom({ name: "id", parse: (text) => text, print: (text) => text }) },
      });
      const some = await pool({ size: 1 });
      for (let turn = 0; turn < 3; turn++) {
        for (let run = 0; run < 2; run++) await some.transaction((db) => db.exec(all));
        await watch.unsafe(turn === 0 ? change : `alter table changed add again${turn} int`);
        const failed = await failure(some.transaction((db) => db.exec(all)));
        expect(failed).toMatchObject({ kind: "db", code: "0A000" });
        expect(await some.transaction((db) => db.exec(all))).toEqual([{ id: "1" }]);
      }
      expect(await some.exec(all)).toEqual([{ id: "1" }]);
    },
  );

  it("that is described between its runs has the same result", async () => {
    const some = await pool({ size: 1 });
    for (let run = 0; run < 20; run++) {
      await Statement.verify(some, [read]);
      expect(await Promise.all([some.exec(read), some.exec(read)])).toEqual([{ id: 1 }, { id: 1 }]);
    }
  });
});

describe("a statement that the server has deallocated, and that fails", () => {
  it.each([
    ["after runs that were answered", [2, 3]],
    ["after one that failed", [1]],
  ])("reports how its new run failed: %s", async (_when, before) => {
    await watch.unsafe("drop table if exists changed; create table changed (id int primary key, n int default 1)");
    await watch`insert into changed values (1)`;
    const add = Statement.exec("insert into changed values ($1) returning n", { params: [Type.int] });
    const some = await pool({ size: 1 });
    for (const id of before) await failure(some.exec(add, id));
    await watch`alter table changed alter n type bigint`;
    expect(await failure(some.exec(add, 1))).toEqual({ kind: "conflict", constraint: "changed_pkey" });
    expect(await failure(some.exec(add, 4))).toBe("nothing was thrown");
  });

  it("and whose first run failed is an error in a transaction, and is prepared again after it", async () => {
    await watch.unsafe("drop table if exists changed; create table changed (id int primary key, n int default 1)");
    await watch`insert into changed values (1)`;
    const add = Statement.exec("insert into changed values ($1) returning n", { params: [Type.int] });
    const some = await pool({ size: 1 });
    await failure(some.exec(add, 1));
    await watch`alter table changed alter n type bigint`;
    expect(await failure(some.transaction((db) => db.exec(add, 2)))).toMatchObject({ kind: "db", code: "0A000" });
    await some.transaction((db) => db.exec(add, 2));
  });

  it.each(["deallocate all", "discard all"])(
    "and is a commit, after %j, leaves no caller in its transaction",
    async (sql) => {
      const some = await pool({ size: 1 });
      const first = Statement.find("select 1 as one", { row: { one: Type.int } });
      const other = Statement.find("select 2 as two", { row: { two: Type.int } });
      for (let run = 0; run < 2; run++) await some.transaction((db) => db.exec(first));
      await some.use((db) => db.exec(Statement.exec(sql)));
      expect(await failure(some.transaction((db) => db.exec(other)))).toMatchObject({ kind: "not_committed" });
      expect(await some.exec(other)).toEqual({ two: 2 });
      expect(await some.transaction((db) => db.exec(other))).toEqual({ two: 2 });
    },
  );
});

const message = (type: string, ...body: Buffer[]): Buffer => {
  const head = Buffer.alloc(5, type);
  head.writeUInt32BE(4 + Buffer.concat(body).length, 1);
  return Buffer.concat([head, ...body]);
};
const int16 = (n: number): Buffer => Buffer.from([n >> 8, n & 255]);
const rowOf = (texts: readonly (string | null)[]): Buffer =>
  message(
    "D",
    int16(texts.length),
    ...texts.map((text) => {
      const bytes = Buffer.from(text ?? "");
      const length = Buffer.alloc(4);
      length.writeInt32BE(text === null ? -1 : bytes.length);
      return Buffer.concat([length, bytes]);
    }),
  );
const texts = fc.string({ unit: codePoint, maxLength: 12 }).map((text) => Buffer.from(text.replaceAll("\0", "")));
const nul = Buffer.from([0]);
const unasked = fc.tuple(fc.constantFrom("N", "S", "A"), texts, texts).map(([type, name, value]) => {
  if (type === "N") return message("N", Buffer.from("M"), value, nul, nul);
  return message(type, ...(type === "A" ? [Buffer.alloc(4)] : []), name, nul, value, nul);
});
const columns = Array.from({ length: 3 }, (_, at) => ({ name: `c${at}`, type: 25 }));
const value = fc.option(fc.string({ unit: codePoint, maxLength: 12 }));
const rows = fc.array(fc.array(value, { minLength: 3, maxLength: 3 }));

/** A wire whose connection is open, and its events. */
function openWire(): { readonly socket: EventEmitter; readonly wire: Wire; readonly told: unknown[] } {
  const told: unknown[] = [];
  const socket = Object.assign(new EventEmitter(), { write: () => true, destroy: () => told.push("destroyed") });
  const listener = {
    ended: (reason: unknown) => told.push(reason),
    broken: (why: string) => told.push(why),
    copied: () => told.push("copied"),
    notified: (channel: string, payload: string) => told.push([channel, payload]),
  };
  const wire = new Wire(socket as unknown as Socket, listener, {
    password: "",
    methods: undefined,
    channelBinding: "prefer",
    maxResultBytes: Number.POSITIVE_INFINITY,
  });
  wire.write(Buffer.alloc(8));
  socket.emit("data", Buffer.concat([message("R", Buffer.alloc(4)), message("Z", Buffer.from("I"))]));
  return { socket, wire, told };
}

describe("messages of the server", () => {
  it("are read the same in any chunks, and results arrive whole", async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.array(unasked),
        fc.array(fc.nat()),
        fc.boolean(),
        async (rows, others, cuts, isLast) => {
          const { socket, wire, told } = openWire();
          const heard: Buffer[] = [];
          wire.on("data", (bytes: Buffer) => heard.push(Buffer.from(bytes)));
          const answered = new Promise<StatementResult>((resolve, reject) => {
            const run = new PreparedRun("", [], columns, { ended: (run) => run.settle() }, resolve, reject);
            wire.begin(run, Buffer.alloc(0));
          });
          const said = [message("2"), ...rows.map(rowOf), message("C", Buffer.from(`SELECT ${rows.length}\0`))];
          // Between any two of them, and behind the last.
          others.forEach((other, at) => said.splice(isLast ? said.length : (at * 7) % (said.length + 1), 0, other));
          said.splice(isLast ? said.length - others.length : said.length, 0, message("Z", Buffer.from("I")));
          const bytes = Buffer.concat(said);
          const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
          for (let i = 1; i < at.length; i++) socket.emit("data", bytes.subarray(at[i - 1], at[i]));
          const answer = await answered;
          expect([...answer]).toEqual(rows.map((row) => row.map((text) => text && Buffer.from(text).toString())));
          expect([answer.command, answer.count]).toEqual(["SELECT", rows.length]);
          // The driver gets none of them. Each notification is one event, in order.
          expect(heard).toEqual([]);
          const notifications = said.filter((one) => others.includes(one) && one[0] === 0x41);
          expect(told).toEqual(notifications.map((one) => one.subarray(9, -1).toString().split("\0")));
        },
      ),
    );
  });

  it.each([
    [
      "of a copy",
      message("H", Buffer.alloc(3)),
      "the server sent CopyOutResponse, which the protocol does not allow there (run)",
    ],
    ["of no type", message("!", Buffer.alloc(3)), "the server sent a message of type 33"],
    ["of the wrong length", message("2", Buffer.alloc(1)), "the server sent BindComplete of 5 bytes"],
  ])("%s, where none was requested, ends the connection", (_what, bytes, why) => {
    const { socket, wire, told } = openWire();
    const never = (): never => expect.fail("it was settled");
    wire.begin(new PreparedRun("", [], [], { ended: never }, never, never), Buffer.alloc(0));
    socket.emit("data", bytes);
    expect(told).toEqual(["destroyed", why]);
  });
});

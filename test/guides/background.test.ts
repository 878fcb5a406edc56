/** The page on background work, on PostgreSQL. */
import { readdirSync } from "node:fs";
import type * as Usher from "usher-http";
import type * as Database from "usher-http/postgres";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { observer, startPostgres } from "../support/postgres/database.ts";
import { openGuide } from "./project.ts";

const guide = openGuide("background-work");
guide.write("package.ts", 'export * from "usher-http";');
guide.write("database.ts", 'export * from "usher-http/postgres";');

interface Mail {
  readonly to: string;
  readonly text: string;
}
interface Jobs {
  readonly addMail: Database.Statement<readonly [Mail], void>;
  readonly takeJob: Database.Statement<readonly [], unknown>;
  readonly finishJob: Database.Statement<readonly [bigint], void>;
  readonly retryJob: Database.Statement<readonly [bigint], void>;
  readonly doJobs: (pool: Database.Pool, send: (mail: Mail) => Promise<void>, signal: AbortSignal) => Promise<void>;
}

const server = await startPostgres();
const outside = observer(server);
const { Pool, Statement } = await guide.load<typeof Database>("database.ts");
const pool = await Pool.create(server.url(), { size: 4 });
afterAll(() => pool.close());
const { addMail, takeJob, finishJob, retryJob, doJobs } = await guide.load<Jobs>("jobs.ts");
const { addReport } = await guide.load<{ readonly addReport: Jobs["addMail"] }>("report.ts");
const sql = [...guide.text.matchAll(/```sql\n([^]*?)```/g)].map(([, text]) => text).join("");

beforeEach(async () => {
  await outside`drop table if exists jobs, runs`;
  await outside.unsafe(sql);
});

const undone = async () =>
  (await outside`select tries, due_at > now() as is_later from jobs where done_at is null`).slice();

describe("jobs in a table", () => {
  it("have statements that fit the table", async () => {
    await expect(Statement.verify(pool, [addMail, addReport, takeJob, finishJob, retryJob])).resolves.toBeUndefined();
    expect(readdirSync(guide.folder)).toContain("jobs.mjs");
  });

  it("run once each in two workers, and no more after these stop", async () => {
    for (let i = 0; i < 20; i++) await pool.exec(addMail, { to: `${i}`, text: "" });
    const [sent, stopping] = [[] as string[], new AbortController()];
    const send = async ({ to }: Mail) => void sent.push(to);
    const workers = [doJobs(pool, send, stopping.signal), doJobs(pool, send, stopping.signal)];
    await eventually(async () => expect(await undone()).toEqual([]));
    stopping.abort();
    await Promise.all(workers);
    expect(sent.toSorted((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`));
  });

  it("run again later if they fail", async () => {
    await pool.exec(addMail, { to: "a", text: "" });
    const stopping = new AbortController();
    const worker = doJobs(
      pool,
      async () => {
        stopping.abort();
        throw new Error("no mail server");
      },
      stopping.signal,
    );
    await worker;
    expect(await undone()).toEqual([{ tries: 1, is_later: true }]);
  });

  it("have one job of a day, however often and where it is added", async () => {
    const add = async () => pool.exec(addReport, { to: "a", text: "the report" });
    await Promise.all([add(), add(), add(), add()]);
    await add();
    expect(await outside`select kind, payload from jobs`).toEqual([
      { kind: "mail", payload: { to: "a", text: "the report" } },
    ]);
  });

  it("run in the program, which ends with SIGTERM", async () => {
    const program = await guide.start("main.ts", { DATABASE_URL: server.url(), PORT: "0" });
    const headers = { "content-type": "application/json" };
    const answered = await fetch(`${program.url}/people`, {
      method: "POST",
      headers,
      body: '{"email":"a@example.com"}',
    });
    expect(answered.status).toBe(202);
    await eventually(async () => {
      expect(await outside`select payload from jobs where done_at is not null`).toHaveLength(1);
    });
    expect(await program.stop()).toBe(0);
  });
});

describe("background work of the program", () => {
  it("runs, and ends with SIGTERM", async () => {
    const program = await guide.start("server.ts", { PORT: "0" });
    expect((await fetch(`${program.url}/visits`, { method: "POST" })).status).toBe(204);
    await eventually(async () => expect(await (await fetch(`${program.url}/visits`)).text()).toBe("1"));
    expect(await program.stop()).toBe(0);
  });

  it("has alarms", async () => {
    const { Test } = await guide.load<typeof Usher>("package.ts");
    const { move, leave } = await guide.load<{ readonly move: Usher.Route; readonly leave: Usher.Route }>("turns.ts");
    const app = Test.app([move, leave]);
    for (const path of ["/games/a/moves", "/games/a/moves", "/games/a/end"]) {
      expect((await Test.call(app, "POST", path)).status).toBe(204);
    }
  });
});

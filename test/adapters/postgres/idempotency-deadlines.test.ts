/** An idempotency key in a table, whose request is still worked on after its deadline. */
import { expect, it, vi } from "vitest";
import { App, Dep, Idempotency, Path, Returns, post } from "usher-http";
import { IdempotencyTable } from "usher-http/postgres";
import { holdClock, own } from "../../support/clock.ts";
import { gate } from "../../support/gate.ts";
import { messages } from "../../support/logs.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { pools } from "./pools.ts";

const server = await startPostgres();
const outside = observer(server);
const opened = pools(server);
const options = { table: "answers" };
await outside.unsafe(IdempotencyTable.schema(options));
holdClock();

/** As `expect.poll`, which would move the clock. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(setImmediate);
}

const lockedUntil = async (): Promise<unknown> => (await outside`select locked_until::text from answers`)[0];

it("stays in use while the handler runs, and its late answer is kept", async () => {
  const [begun, freed] = [gate(), gate()];
  const once = Idempotency.by(IdempotencyTable.store(await opened(), options), {
    caller: Dep.return("everybody"),
    leaseMs: 60_000,
  });
  const route = post(Path.root, { inputs: { once }, returns: Returns.text, meta: own(50) }, async () => {
    begun.open();
    await freed.passed;
    return "late";
  });
  const app = App.make([route]);
  const ask = (): Promise<Response> =>
    Promise.resolve(app.fetch(new Request("http://h/", { method: "POST", headers: { "idempotency-key": '"key"' } })));
  const answer = ask();
  await begun.passed;
  const claimed = await lockedUntil();
  vi.advanceTimersByTime(100);
  expect((await answer).status).toBe(503);
  vi.advanceTimersByTime(20_000);
  await until(async () => JSON.stringify(await lockedUntil()) !== JSON.stringify(claimed));
  freed.open();
  await until(async () => (await outside`select 1 from answers where answer is not null`).length === 1);
  const again = await ask();
  expect([again.status, again.headers.get("idempotent-replayed"), await again.text()]).toEqual([200, "true", "late"]);
  expect(messages("error")).toEqual([]);
});

/** The page on event streams: a feed of a table, on PostgreSQL, that a hub wakes. */
import type * as Usher from "usher-http";
import type * as Database from "usher-http/postgres";
import { afterAll, beforeEach, expect, it } from "vitest";
import { observer, startPostgres } from "../support/postgres/database.ts";
import { openGuide } from "./project.ts";

const guide = openGuide("event-streams");
guide.write("package.ts", 'export * from "usher-http";');
guide.write("database.ts", 'export * from "usher-http/postgres";');
const { Broadcast, Dep, Event, Test } = await guide.load<typeof Usher>("package.ts");
const { Pool } = await guide.load<typeof Database>("database.ts");

const server = await startPostgres();
const pool = await Pool.create(server.url(), { size: 2 });
afterAll(() => pool.close());
const outside = observer(server);
const { added, database, news } = await guide.load<{
  added: Usher.Route;
  database: Usher.Resource<Database.Pool>;
  news: Usher.Resource<Usher.Hub<never>>;
}>("added.ts");
const wake = Event.make(Event.text("wake"), "");

beforeEach(async () => {
  await outside`drop table if exists orders`;
  await outside`create table orders (id int generated always as identity primary key, item text not null)`;
});

const insert = (count: number) =>
  outside`insert into orders (item) select 'item ' || n from generate_series(1, ${count}) n`;

/** The ids that a client gets until it has the last one. */
async function idsUntil(last: number, after: number, whileOpen: (wakes: () => void) => Promise<void>) {
  const hub = Broadcast.create<never>({ depth: 1, behind: "skip" });
  const app = Test.app([added], { resources: [Dep.resource(database, pool), Dep.resource(news, hub)] });
  const ids: number[] = [];
  const headers = { "last-event-id": `${after}` };
  const reading = Test.events(
    app,
    "/orders/added",
    ({ id }) => {
      ids.push(Number(id));
      return Number(id) === last ? "stop" : undefined;
    },
    { headers },
  );
  while (hub.subscribers("orders").length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  await whileOpen(() => hub.publish("orders", wake as never));
  await reading;
  expect(hub.topics()).toEqual([]);
  return ids;
}

const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

it("a client that reconnects gets what it missed, of more than one read", async () => {
  await insert(250);
  expect(await idsUntil(250, 30, async () => {})).toEqual(from(31, 250));
});

it("each order comes once, however many of them wake the loop", async () => {
  await insert(1);
  const ids = await idsUntil(21, 0, async (wakes) => {
    for (let n = 0; n < 20; n += 1) {
      await insert(1);
      wakes();
      wakes();
    }
  });
  expect(ids).toEqual(from(1, 21));
});

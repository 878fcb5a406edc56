/** A pool whose server goes and comes back, and goes again: the second time is as the first. */
import { expect, it } from "vitest";
import { Metrics, Test } from "usher-http";
import { Statement, Type } from "usher-http/postgres";
import { messages } from "../../support/logs.ts";
import { startPostgres } from "../../support/postgres/database.ts";
import { eventually, pools } from "./pools.ts";

const server = await startPostgres();
const pool = pools(server);
const one = Statement.find("select 1 as one", { row: { one: Type.int } });

it("each outage is logged once, and its end, by the first connection that opens", async () => {
  const some = await pool({ size: 1 });
  const told = () => messages("warn").filter((line) => String(line).startsWith("the database is not reached: "));
  for (let outage = 1; outage <= 2; outage++) {
    expect(await some.exec(one)).toEqual({ one: 1 });
    await server.stop("immediate");
    await eventually(() => told().length).toBe(outage);
    await server.start();
    await eventually(() => some.exec(one).catch(() => undefined)).toEqual({ one: 1 });
  }
  expect(told()).toHaveLength(2);
  const ended = messages("info").filter((line) => line === "the database is reached again");
  expect(ended).toHaveLength(2);
});

it("a connection that is lost is no idle one in the metrics", async () => {
  const some = await pool({ size: 2 });
  some.measure({ name: "lost" });
  const idle = async () => {
    const { body } = await Test.call(Test.app(Metrics.routes()), "GET", "/metrics");
    const state = 'db_client_connection_pool_name="lost",db_client_connection_state="idle"';
    return Number(
      body
        .split("\n")
        .find((line) => line.includes(state))
        ?.split(" ")
        .at(-1),
    );
  };
  expect(await idle()).toBe(2);
  await server.stop("immediate");
  await eventually(idle).toBe(0);
  await server.start();
  await eventually(() => some.exec(one).catch(() => undefined)).toEqual({ one: 1 });
  await eventually(idle).toBe(2);
});

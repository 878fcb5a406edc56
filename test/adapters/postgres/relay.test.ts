/** The relay over a real PostgreSQL, between real processes of three runtimes (issue 5; contract 2.9, 6.8). */
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { relay } from "usher-http/postgres";
import type { OpenRelay } from "usher-http/postgres";
import { adapterTimers } from "../../support/adapter-timers.ts";
import { messages } from "../../support/logs.ts";
import { observer, startPostgres, startServer } from "../../support/postgres/database.ts";
import type { PostgresServer } from "../../../examples/orders/postgres-server.ts";
import { describeRelay } from "../../support/relays/describe.ts";
import type { OwnServer } from "../../support/relays/describe.ts";
import { eventually } from "../../support/eventually.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { codePoint } from "../../support/code-point.ts";

const server = await startPostgres();
const sql = observer(server);
const locks = observer(server);

let channels = 0;
const freshChannel = (): string => `orders "${channels++}"`;

/** A server that ends in one way, and is gone with its test. */
async function ownServer(ending: "fast" | "immediate"): Promise<OwnServer> {
  const own = await startServer();
  owned.push(own);
  return { url: own.url(), stop: () => own.stop(ending), start: () => own.start() };
}

const owned: PostgresServer[] = [];
afterEach(async () => {
  for (const own of owned.splice(0)) await own.close();
});

/** The sessions of relays that are open. */
async function sessions(): Promise<number> {
  const [row] = await sql`select count(*)::int as count from pg_stat_activity where application_name = 'usher relay'`;
  return row?.["count"] as number;
}

/** Two relays of this process, and the events of the second. */
async function two(channel = freshChannel()) {
  const [here, there] = await Promise.all([open(server.url(), channel), open(server.url(), channel)]);
  const told: string[] = [];
  await there.subscribe(
    (topic, wire) => told.push(`${topic} ${wire}`),
    () => told.push("missed"),
  );
  return { here, there, told, channel };
}

const opened: OpenRelay[] = [];
afterEach(() => closeAll());

async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((one) => one.close()));
}

/** A relay of this process, closed with the test. */
async function open(url: string, channel: string): Promise<OpenRelay> {
  const one = await relay(url, { channel });
  opened.push(one);
  return one;
}

/** Closes them, and nothing is left at the server. */
async function closed(): Promise<void> {
  await closeAll();
  await eventually(async () => expect(await sessions()).toBe(0));
}

describe("the relay over PostgreSQL: its network", () => {
  describeRelay({
    program: join(import.meta.dirname, "relay-program.ts"),
    url: (port = server.port) => server.url().replace(`:${server.port}`, `:${port}`),
    freshChannel,
    async endSessions() {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'usher relay'`;
    },
    endings: { fast: () => ownServer("fast"), immediate: () => ownServer("immediate") },
  });

  it.each(["pg_backend_pid", "to_regclass", "listen "])(
    "is closed when the network is silent from %s on",
    async (text) => {
      const proxy = await CuttingProxy.to(server.port);
      onTestFinished(() => proxy.close());
      const hushed = proxy.hushAt(text);
      const timers = adapterTimers();
      const target = `postgres://postgres@127.0.0.1:${proxy.port}/postgres?connect_timeout=60`;
      const opening = relay(target, { channel: "silent" });
      await hushed;
      expect(timers.end(60_000)).toBe(1);
      const failure = { kind: "unsent", detail: "nothing was listened to within 60000 ms" };
      await expect(opening).rejects.toMatchObject({ failure });
    },
  );
});

describe("the relay over PostgreSQL: its timers", () => {
  it("leaves no timer of its opening when it is open, and none when it is closed", async () => {
    const timers = adapterTimers();
    const here = await open(`${server.url()}?connect_timeout=60`, freshChannel());
    expect(timers.end(60_000)).toBe(0);
    await here.close();
    expect([timers.end(10_000), timers.end(1000), timers.end(60_000)]).toEqual([0, 0, 0]);
  });

  it("closes a connection on which nothing arrives any more", async () => {
    const proxy = await CuttingProxy.to(server.port);
    onTestFinished(() => proxy.close());
    const timers = adapterTimers();
    const here = await open(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`, freshChannel());
    await here.publish("t", "x");
    void proxy.hush();
    expect([timers.end(10_000), proxy.connections]).toEqual([1, 1]);
    // The first heartbeat was answered, the second one is not, within its second of grace.
    expect(timers.end(10_000)).toBe(1);
    expect(timers.end(1000)).toBe(1);
    await eventually(() => expect(proxy.connections).toBe(0));
    expect(messages("warn")).toHaveLength(1);
  });

  it("leaves no timer", async () => {
    const timers = adapterTimers();
    const here = await relay(server.url(), { channel: freshChannel() });
    await here.close();
    expect([10_000, 5000, 1000].map((ms) => timers.end(ms))).toEqual([0, 0, 0]);
  });
});

describe("the relay over PostgreSQL: messages", () => {
  it("carries any text, separately for each topic", async () => {
    const { here, told } = await two();
    const text = fc.string({ unit: codePoint, maxLength: 40 }).map((text) => text.toWellFormed());
    const asked: string[] = [];
    await fc.assert(
      fc.asyncProperty(text, text, async (topic, wire) => {
        asked.push(`${topic} ${wire}`);
        await here.publish(topic, wire);
      }),
    );
    await eventually(() => expect(told).toHaveLength(asked.length));
    expect(told).toEqual(asked);
  });

  it("carries texts longer than a notification by reference, in order with the others", async () => {
    const { here, there, told } = await two();
    // Around the limit, in characters of one byte, of two and of three, and NULs that become two.
    const sizes = [2660, 2670, 3900, 4000, 7930, 7960, 7999, 8000, 8001, 100_000];
    const texts = ["x", "é", "あ", "\0", "\x01"].flatMap((unit) => sizes.map((size) => unit.repeat(size)));
    const asked = texts.flatMap((text, i) => [`short ${i}`, text]);
    await Promise.all(asked.map((text) => here.publish("t", text)));
    await eventually(() => expect(told).toHaveLength(asked.length));
    expect(told.every((text, i) => text === `t ${asked[i]}`)).toBe(true);
    // The one who published has no use for them.
    const own: string[] = [];
    await here.subscribe((_, wire) => own.push(wire));
    await here.publish("t", "y".repeat(9000));
    await there.publish("t", "after");
    await eventually(() => expect(own).toEqual(["after"]));
  });

  it("deletes its messages after a time", async () => {
    const { here, told } = await two();
    await here.publish("t", "x".repeat(9000));
    await eventually(() => expect(told).toHaveLength(1));
    await sql`update usher_relay set kept_at = now() - interval '11 minutes'`;
    await here.publish("t", "y".repeat(9000));
    await eventually(() => expect(told).toHaveLength(2));
    expect((await sql`select count(*)::int as count from usher_relay`)[0]?.["count"]).toBe(1);
    await sql`update usher_relay set kept_at = now() - interval '11 minutes'`;
    await closed();
    await open(server.url(), "c");
    await closed();
    expect((await sql`select count(*)::int as count from usher_relay`)[0]?.["count"]).toBe(0);
  });
});

describe("the relay over PostgreSQL: messages that cannot be fetched", () => {
  it("reports a missed one when its row is gone", async () => {
    const { here, told, channel } = await two();
    await here.publish("t", "1");
    await sql`select pg_notify(${channel}, '=999999999 1')`;
    await here.publish("t", "2");
    await eventually(() => expect(told).toEqual(["t 1", "t 2"]));
    // Fetched while its table is empty, as after a crash of the server.
    await sql.unsafe("alter table usher_relay rename to usher_relay_away");
    await expect(here.publish("t", "x".repeat(9000))).rejects.toThrow("refused");
    await here.publish("t", "4");
    await sql.unsafe("alter table usher_relay_away rename to usher_relay");
    await eventually(() => expect(told.slice(2)).toEqual(["missed", "t 4"]));
  });

  it("closes a connection that has more queued rows than it may fetch, and continues with another", async () => {
    const { here, told, channel } = await two();
    await here.publish("t", "1");
    await locks.begin(async (locked) => {
      // What is to be fetched waits, and so does what comes after it.
      await locked.unsafe("lock table usher_relay in access exclusive mode");
      await sql`select pg_notify(${channel}, '=1 1')`;
      await sql`select pg_notify(${channel}, number::text) from generate_series(1, 10001) number`;
      await eventually(() => expect(messages("warn").length).toBe(2));
    });
    await eventually(() => expect(told).toEqual(["t 1", "missed"]));
    await eventually(async () => {
      await here.publish("t", "2").catch(() => {});
      expect(told).toContain("t 2");
    });
  });

  it("ignores messages of other programs", async () => {
    const { here, told, channel } = await two();
    for (const text of ["", "hello", "=", "=x", "=1", "=99999999999999999999 1", "0123456789abcdef 1 9 t", "\x01"]) {
      await sql`select pg_notify(${channel}, ${text})`;
    }
    await here.publish("t", "1");
    await eventually(() => expect(told.at(-1)).toBe("t 1"));
    expect(told.filter((text) => text !== "t 1")).toEqual([]);
  });
});

describe("the relay over PostgreSQL: faults and opening", () => {
  it("reports a text that the database cannot store as missed, and delivers all others", async () => {
    await sql.unsafe("create database latin encoding latin1 locale 'C' template template0");
    const [here, there] = await Promise.all([open(server.url("latin"), "c"), open(server.url("latin"), "c")]);
    const told: string[] = [];
    await there.subscribe(
      (_, wire) => told.push(wire),
      () => told.push("missed"),
    );
    await here.publish("t", "first");
    const sent = await Promise.allSettled(["a", "é", "😀", "b"].map((wire) => here.publish("t", wire)));
    expect(sent.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    await eventually(() => expect(told).toEqual(["first", "a", "é", "missed", "b"]));
    await closed();
  });

  it("sends each message once, though it is refused or its answer is lost", async () => {
    const proxy = await CuttingProxy.to(server.port);
    onTestFinished(() => proxy.close());
    const channel = freshChannel();
    const notified: string[] = [];
    // Without the mark of a heartbeat, which has no topic.
    await sql.listen(channel, (payload) => notified.push(...payload.split(" 1 t").slice(1)));
    const here = await open(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`, channel);
    // Behind the heartbeat, so that the next one is alone.
    await here.publish("t", "first");
    proxy.refuse("second");
    await expect(here.publish("t", "second")).rejects.toThrow("refused");
    const third = here.publish("t", "third").then(() => proxy.cutAll());
    // Sent together, as soon as the third is answered.
    const lost = await Promise.allSettled([third, here.publish("t", "fourth"), here.publish("t", "fifth")]);
    expect(lost.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    await eventually(() => here.publish("t", "last"));
    await eventually(() => expect(notified.at(-1)).toBe("last"));
    expect(notified).toEqual(["first", "third", "fourth", "fifth", "last"]);
  });

  it("uses an existing table, and logs when it may not create one", async () => {
    await sql.unsafe("create database narrow");
    const inNarrow = observer(server, "narrow");
    await inNarrow.unsafe("create role guest login");
    const url = server.url("narrow").replace("postgres@", "guest@");
    await expect(relay(url, { channel: "c" })).rejects.toMatchObject({ failure: { kind: "db", code: "42501" } });
    await expect(relay(url, { channel: "c" })).rejects.toThrow("make its table usher_relay");
    // Closed on that path too.
    await eventually(async () => expect(await sessions()).toBe(0));
    const owner = await open(server.url("narrow"), "c");
    await inNarrow.unsafe("grant select, insert, delete, update on usher_relay to guest");
    const guest = await open(url, "c");
    const told: string[] = [];
    await owner.subscribe((_, wire) => told.push(wire));
    await guest.publish("t", "z".repeat(9000));
    await eventually(() => expect(told).toEqual(["z".repeat(9000)]));
  });

  it("can be opened by many concurrently, without a table", async () => {
    await sql.unsafe("create database crowd");
    const url = server.url("crowd");
    await Promise.all(Array.from({ length: 12 }, () => open(url, "c")));
    await closed();
    expect(messages("warn")).toEqual([]);
    // PostgreSQL that crashes soon after a "create" that failed may not start again.
    expect(server.log()).not.toMatch(/ERROR: .*(?:duplicate key|already exists)/);
  });

  it("rejects when there is no server, or the channel has no name", async () => {
    await expect(relay("postgres://a@127.0.0.1:1/b", { channel: "c" })).rejects.toMatchObject({
      failure: { kind: "unsent" },
    });
    for (const channel of ["", "é".repeat(32), "a\0b"]) {
      await expect(relay(server.url(), { channel })).rejects.toThrow("relay: channel must have 1 to 63 bytes");
    }
  });
});

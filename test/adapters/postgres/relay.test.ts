/** The relay over a real PostgreSQL, between real processes of three runtimes (issue 5; contract 2.9, 6.8). */
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { relay } from "usher-http/postgres";
import type { OpenRelay } from "usher-http/postgres";
import { messages } from "../../support/logs.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { PostgresServer } from "../../../examples/orders/postgres-server.ts";
import { RelayProcess } from "../../support/relays/process.ts";
import { Wire } from "../../support/wire.ts";
import { eventually } from "../../support/eventually.ts";

const program = join(import.meta.dirname, "relay-program.ts");
const server = await startPostgres();
const sql = observer(server);

const numbered = (what: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${what} ${i}`);
const of = (what: string, { heard }: RelayProcess): string[] => heard.filter((text) => text.startsWith(what));

let channels = 0;
const freshChannel = (): string => `orders "${channels++}"`;
const start = (runtime: "node" | "bun" | "deno", channel: string, at: string = server.url()): Promise<RelayProcess> =>
  RelayProcess.start(runtime, program, at, channel);

/** The sessions of relays that are open. */
async function sessions(): Promise<number> {
  const [row] = await sql`select count(*)::int as count from pg_stat_activity where application_name = 'usher relay'`;
  return row?.["count"] as number;
}

/** Two relays of this process, and what the second was told. */
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

describe("the relay over PostgreSQL", { timeout: 60_000 }, () => {
  it.each(["node", "bun", "deno"] as const)(
    "tells each process what the others publish, once and in order: Node and %s",
    async (runtime) => {
      const channel = freshChannel();
      const [here, there] = await Promise.all([start("node", channel), start(runtime, channel)]);
      here.do("publish here 500");
      there.do("publish there 500");
      for (const process of [here, there]) {
        await process.hears("here 499");
        await process.hears("there 499");
        expect(of("here", process)).toEqual(numbered("here", 500));
        expect(of("there", process)).toEqual(numbered("there", 500));
      }
    },
  );

  it("carries any text, and each topic's by itself", async () => {
    const { here, told } = await two();
    const text = fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.toWellFormed());
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

  it("carries what is longer than a notification by reference, in its order among the others", async () => {
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

  it("keeps no message for good", async () => {
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

  it("says that one was missed which is there no more", async () => {
    const { here, told, channel } = await two();
    await here.publish("t", "1");
    await sql`select pg_notify(${channel}, '=999999999 1')`;
    await here.publish("t", "2");
    await eventually(() => expect(told).toEqual(["t 1", "t 2"]));
    // Fetched while its table is empty, as after a crash of the server.
    await sql.unsafe("alter table usher_relay rename to usher_relay_away");
    await expect(here.publish("t", "x".repeat(9000))).rejects.toThrow();
    await here.publish("t", "4");
    await sql.unsafe("alter table usher_relay_away rename to usher_relay");
    await eventually(() => expect(told.slice(2)).toEqual(["missed", "t 4"]));
  });

  it("passes over what is none of its messages", async () => {
    const { here, told, channel } = await two();
    for (const text of ["", "hello", "=", "=x", "=1", "=99999999999999999999 1", "0123456789abcdef 1 9 t", "\x01"]) {
      await sql`select pg_notify(${channel}, ${text})`;
    }
    await here.publish("t", "1");
    await eventually(() => expect(told.at(-1)).toBe("t 1"));
    expect(told.filter((text) => text !== "t 1")).toEqual([]);
  });

  it("keeps what a database has no character for from nothing else, and says that it was missed", async () => {
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

  it("says who lost its session, and ends the subscriptions of those who missed something", async () => {
    const channel = freshChannel();
    const wire = await Wire.to(server.port);
    const [here, there] = await Promise.all([
      start("node", channel, server.url().replace(`:${server.port}`, `:${wire.port}`)),
      start("deno", channel),
    ]);
    here.do("publish before 2");
    await there.hears("before 1");
    wire.cut();
    await here.logs("a relay lost its connection");
    here.do("publish while 3");
    there.do("publish other 3");
    await here.logs("could not publish to the other processes");
    wire.mend();
    for (const process of [here, there]) await process.until(() => process.ends === 1);
    here.do("publish after 2");
    there.do("publish again 2");
    await there.hears("after 1");
    await here.hears("again 1");
    expect(of("other", here)).toEqual([]);
    expect(of("while", there)).toEqual([]);
    expect(there.heard.filter((text) => /before|after/.test(text))).toEqual([
      ...numbered("before", 2),
      ...numbered("after", 2),
    ]);
    // The server's own end of a session is noticed as well.
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'usher relay'`;
    for (const process of [here, there]) await process.until(() => process.ends === 2);
    here.do("publish last 2");
    await there.hears("last 1");
    expect(of("last", there)).toEqual(numbered("last", 2));
  });

  it.each(["fast", "immediate"] as const)("outlives a server that is stopped, %s, and started", async (ending) => {
    const own = await PostgresServer.start();
    try {
      const channel = freshChannel();
      const both = await Promise.all([start("node", channel, own.url()), start("bun", channel, own.url())]);
      const [here, there] = both;
      here.do("publish before 3");
      here.do("large x 20000");
      await there.hears("x".repeat(100));
      await own.stop(ending);
      for (const process of both) await process.logs("a relay lost its connection");
      here.do("publish while 3");
      await here.hears("while 2");
      await own.start();
      for (const process of both) {
        await process.logs("a relay has a connection again");
        await process.until(() => process.ends > 0);
      }
      here.do("publish after 3");
      here.do("large y 20000");
      await there.hears("y".repeat(100));
      const large = (letter: string) => letter.repeat(100);
      const told = [...numbered("before", 3), large("x"), ...numbered("after", 3), large("y")];
      expect(there.heard).toEqual(told);
      expect(here.heard.toSorted()).toEqual([...told, ...numbered("while", 3)].toSorted());
      for (const process of both) {
        process.do("close");
        expect(await process.ended).toBe(0);
      }
    } finally {
      await own.close();
    }
  });

  it("is closed with what was published sent, and keeps no process from ending", async () => {
    const channel = freshChannel();
    const [here, there] = await Promise.all([start("node", channel), start("bun", channel)]);
    here.do("publish last 200");
    here.do("close");
    expect(await here.ended).toBe(0);
    await there.hears("last 199");
    expect(of("last", there)).toEqual(numbered("last", 200));
    there.do("leave");
    expect(await there.ended).toBe(0);
    for (const runtime of ["node", "deno"] as const) {
      const process = await start(runtime, channel);
      process.do("leave");
      expect(await process.ended).toBe(0);
    }
    await eventually(async () => expect(await sessions()).toBe(0));
  });

  it("uses a table that somebody else made, and says so where it may not make one", async () => {
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

  it("is opened by many at once, where there is no table yet", async () => {
    await sql.unsafe("create database crowd");
    const url = server.url("crowd");
    await Promise.all(Array.from({ length: 12 }, () => open(url, "c")));
    await closed();
    expect(messages("warn")).toEqual([]);
  });

  it("is not opened where there is no server, nor on a channel of no name", async () => {
    await expect(relay("postgres://a@127.0.0.1:1/b", { channel: "c" })).rejects.toMatchObject({
      failure: { kind: "unsent" },
    });
    for (const channel of ["", "é".repeat(32), "a\0b"]) {
      await expect(relay(server.url(), { channel })).rejects.toThrow("relay: a channel's name has 1 to 63 bytes");
    }
  });
});

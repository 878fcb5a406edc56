/**
 * A server that breaks the protocol, or someone between: each message at each moment, wrong lengths, endless ones. The process lives, each
 * caller gets an error of the database, nothing is printed, and the pool answers once the server is honest.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Pool, Statement, Type } from "usher-http/postgres";
import { messages } from "../../support/logs.ts";
import { memory } from "../../support/memory.ts";
import { eventually } from "./pools.ts";
import { rounds } from "../../support/wide.ts";
import { commands } from "./commands.ts";
import { outcome, play, right, table } from "./lied-to.ts";
import { LyingServer, message, moments, wellFormed } from "./lying-server.ts";
import type { Lie, Moment } from "./lying-server.ts";

const error = /^(?:lost|unsent|db|pool_busy|not_committed|connection_closed|conflict|not_serializable): /;

function expectHonest(told: readonly string[]): void {
  expect(told.at(-1)).toBe(right);
  for (const one of told) if (one !== right && one !== '"done"') expect(one).toMatch(error);
}

describe.each(commands)("on %s", (_, command) => {
  const played = playedBy(command());
  it("nothing is printed, and the process lives", { timeout: 300_000 }, async () => {
    const { lines, complaints } = await played;
    expect(complaints).toBe("");
    expect(lines).toHaveLength(1);
  });

  it.each(moments)("each message at this moment: %s", { timeout: 300_000 }, async (moment) => {
    const { results } = await played;
    expect(results).toHaveLength(table.length);
    for (const [at, { name, ...lie }] of table.entries()) {
      if (lie.moment !== moment) continue;
      expectHonest(results[at] ?? [`${name} was not played`]);
      // They may come between any others, once a client is signed in.
      const isAllowed = ["NoticeResponse", "ParameterStatus"].includes(name) && moments.indexOf(moment) > signedIn;
      if (isAllowed) expect(results[at]?.filter((one) => one.includes("protocol"))).toEqual([]);
    }
  });
});

const signedIn = moments.indexOf("sign-in");

async function playedBy([file = "", ...rest]: readonly string[]) {
  const child = spawn(file, [...rest, join(import.meta.dirname, "lied-to-program.ts")]);
  const [said, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  const lines = said.split("\n").filter((line) => line !== "");
  return { lines, complaints, results: JSON.parse(lines.at(-1) ?? "[]") as readonly (readonly string[])[] };
}

describe("a message that is cut short", () => {
  it("and then nothing: the caller gets an error within the bound of its statement", { timeout: 120_000 }, async () => {
    const cut = moments.map(
      (moment) => ({ moment, bytes: Buffer.from([0x53, 0, 0, 0, 90]), then: "is silent" }) as const,
    );
    for (const told of await Promise.all(cut.map((lie) => play([lie])))) expectHonest(told);
  });
});

const lengths = [0, 1, 3, 4, 5, 6, 8, 100, 0x7fff, 0x8001, 0x3fff_ffff, 0x7fff_ffff, 0xffff_ffff];
const honest = fc.constantFrom(...wellFormed.map(([, bytes]) => bytes));
const ofLength = fc.tuple(honest, fc.constantFrom(...lengths)).map(([bytes, length]) => {
  const changed = Buffer.from(bytes);
  changed.writeUInt32BE(length, 1);
  return changed;
});
const mutated = fc.tuple(honest, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
  const changed = Buffer.from(bytes);
  changed[at % changed.length] = byte;
  return changed;
});
const bodies = fc
  .tuple(fc.constantFrom(...wellFormed.map(([, bytes]) => bytes[0] as number)), fc.uint8Array({ maxLength: 40 }))
  .map(([type, body]) => message(type, Buffer.from(body)));
const lie = fc.record<Lie>({
  moment: fc.constantFrom(...moments),
  bytes: fc
    .array(fc.oneof(honest, ofLength, mutated, bodies), { minLength: 1, maxLength: 4 })
    .map((all) => Buffer.concat(all)),
  then: fc.constantFrom("goes on", "closes"),
});
const plays = fc.array(fc.array(lie, { minLength: 1, maxLength: 3 }), { minLength: 20, maxLength: 20 });

it("of any bytes at any moments leave a pool that answers", { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(plays, async (plays) => {
      for (const told of await Promise.all(plays.map((lies) => play(lies)))) expectHonest(told);
    }),
    // Another play would take as long as this one.
    { numRuns: rounds(9), endOnFailure: true },
  );
});

describe("without an end", () => {
  const floods: readonly (readonly [moment: Moment, name: string])[] = [
    ["signed in", "ParameterStatus"],
    ["the key", "NoticeResponse"],
    ["columns of a script", "CommandComplete"],
    ["row of a script", "RowDescription"],
    ["row", "DataRow"],
    ["row again", "DataRow"],
    ["row again", "NoticeResponse"],
    ["idle", "NotificationResponse"],
    ["idle", "ParameterStatus"],
  ];
  it.each(floods)("at %s: %s", { timeout: 120_000 }, async (moment, name) => {
    const bytes = wellFormed.find(([one]) => one === name)?.[1] ?? Buffer.alloc(0);
    const before = await memory();
    const told = await play([{ moment, bytes, then: "floods" }], { maxResultBytes: 1_000_000 });
    expectHonest(told);
    expect((await memory()) - before).toBeLessThan(20_000_000);
  });

  it("a result has a bound, which the pool may set", { timeout: 120_000 }, async () => {
    const row = message("D", Buffer.from([0, 1, 0, 0, 0, 1]), "7");
    const [over] = await play([{ moment: "row again", bytes: row, then: "floods" }], {
      maxResultBytes: 5000,
    });
    expect(over).toMatch(/^lost: .*: its result has more than 5000 bytes$/);
  });
});

const one = Statement.find("select 1 as one", { row: { one: Type.text } });

describe("a server that signs its client in wrongly", () => {
  it.each([
    [
      "the nonce of another",
      "SCRAM, second",
      message("R", Buffer.from([0, 0, 0, 11]), "r=other,s=c2FsdA==,i=4096"),
      /cannot be read/,
    ],
    [
      "no proof of its own",
      "SCRAM, third",
      message("R", Buffer.alloc(4)),
      /AuthenticationOk, which .* \(answered SCRAM\)/,
    ],
    [
      "a false proof",
      "SCRAM, third",
      message("R", Buffer.from([0, 0, 0, 12]), "v=AAAA"),
      /did not prove that it knows the password/,
    ],
    [
      "another mechanism",
      "SCRAM, first",
      message("R", Buffer.from([0, 0, 0, 10]), "OAUTHBEARER\0\0"),
      /offers no SCRAM-SHA-256/,
    ],
  ] as const)("%s: no connection", async (_, moment, bytes, why) => {
    const server = await LyingServer.start({ signIn: "scram" });
    server.lies.push({ moment, bytes, then: "is silent" });
    const told = await outcome(Pool.create(server.url(), { size: 1 }));
    server.close();
    expect(told).toMatch(/^unsent: /);
    expect(told).toMatch(why);
  });

  it("too many rounds of SCRAM, which would stop this process for minutes: no connection", async () => {
    const server = await LyingServer.start({ signIn: "scram", rounds: 2_000_000_000 });
    const told = await outcome(Pool.create(server.url(), { size: 1 }));
    server.close();
    expect(told).toMatch(/asks for 2000000000 rounds of SCRAM where 1000000 are the most/);
  });
});

it("connections that are lost before anyone has used them are opened again ever more slowly", async () => {
  const server = await LyingServer.start();
  const pool = await Pool.create(server.url(), { size: 2 });
  server.habit = { moment: "idle", bytes: message("Z", "I"), then: "goes on" };
  server.cut();
  const before = server.started;
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(server.started - before).toBeGreaterThan(2);
  expect(server.started - before).toBeLessThan(20);
  server.habit = undefined;
  await eventually(() => outcome(pool.exec(one))).toBe(right);
  await eventually(() => pool.stats().idle).toBe(2);
  await pool.close();
  server.close();
});

it("an idle connection that is broken is one log line, at level warn", async () => {
  const server = await LyingServer.start();
  const pool = await Pool.create(server.url(), { size: 1 });
  server.say(message("H", Buffer.from([0, 0, 0])));
  await eventually(() => pool.stats().replaced).toBe(1);
  expect(await outcome(pool.exec(one))).toBe(right);
  await pool.close();
  server.close();
  expect(messages("warn")).toEqual([
    "a connection was closed: the server sent CopyOutResponse, which the protocol does not allow there (idle)",
  ]);
});

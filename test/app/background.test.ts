/** Work of the application outside requests (rows AL): `Background` and `Alarm`. The clock is fake. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Alarm, App, Background, Log, Path, Refusal, Returns, after, get, refuse } from "usher-http";
import { serve } from "usher-http/node";
import { gate } from "../support/gate.ts";
import { lines } from "../support/logs.ts";

const program = Log.source("program");
const settle = (background: Background) => background.settled(60_000);

describe("Background.start", () => {
  it("AL-01 logs an error of the work at error level with the work's name, and never throws", async () => {
    const background = Background.create();
    background.start("the report", () => {
      throw new TypeError("s3cret");
    });
    background.start("the letter", async () => {
      await Promise.resolve();
      throw new RangeError("s3cret");
    });
    expect(await settle(background)).toBe(0);
    expect(lines().map((line) => [line["level"], line["logger.name"], line["message"], line["error.kind"]])).toEqual([
      ["error", "framework.background", "the report raised", "TypeError"],
      ["error", "framework.background", "the letter raised", "RangeError"],
    ]);
    expect(lines()[0]?.["error.stack"]).toContain("background.test.ts");
    expect(JSON.stringify(lines())).not.toContain("s3cret");
  });

  it("AL-03 keeps the id of the request that started it, and has no id without a request", async () => {
    const background = Background.create();
    const route = get(Path.of("x"), { returns: Returns.text }, () => {
      for (const what of ["a", "b"]) {
        background.start(what, async () => {
          await Promise.resolve();
          program.info("working");
          throw new Error("s3cret");
        });
      }
      return "x";
    });
    background.start("alone", () => program.info("alone"));
    const { fetch } = App.make([route]);
    const ids = await Promise.all(
      [1, 2].map(async () => (await fetch(new Request("http://h/x"))).headers.get("x-request-id")),
    );
    await settle(background);
    for (const id of ids) {
      const own = lines().filter((line) => line["request_id"] === id);
      const said = ["GET /x 200", "a raised", "b raised", "working", "working"];
      expect(own.map(({ message }) => String(message)).toSorted()).toEqual(said);
    }
    expect(lines().find(({ message }) => message === "alone")).not.toHaveProperty("request_id");
  });
});

describe("background work that throws", () => {
  it("passes the error to onError with the work's name and its request", async () => {
    const failed: unknown[] = [];
    const sick = new Error("s3cret");
    const background = Background.create({
      onError: (error, work) => {
        failed.push([error, work]);
        throw new Error("of its own");
      },
    });
    background.start("a", () => Promise.reject(sick));
    background.start("b", () => {
      throw refuse(Refusal.notFound, undefined, { detail: "no such game" });
    });
    await settle(background);
    expect(failed).toEqual([[sick, { what: "a", requestId: undefined }]]);
    await expect
      .poll(() =>
        lines()
          .map(({ level, message }) => `${level} ${message}`)
          .toSorted(),
      )
      .toEqual(["error a raised", "error work in the background raised", "warn b raised: not_found: no such game"]);
  });

  it("does not end by what it returns or throws", async () => {
    const background = Background.create();
    const hostile = [
      () => Promise.reject(undefined),
      // oxlint-disable-next-line unicorn/no-thenable
      () => ({
        then: () => {
          throw new Error("s3cret");
        },
      }),
      // oxlint-disable-next-line unicorn/no-thenable
      () =>
        Object.defineProperty({}, "then", {
          get: () => {
            throw new Error("s3cret");
          },
        }),
      () => {
        throw new Proxy(
          {},
          {
            get: () => {
              throw new Error("s3cret");
            },
          },
        );
      },
    ];
    for (const one of hostile) background.start("hostile", one);
    expect(await settle(background)).toBe(0);
    expect(lines().filter(({ message }) => message === "hostile raised")).toHaveLength(4);
  });
});

describe("the limits of Background", () => {
  it("refuses work above maxRunning with busy, and accepts it when other work ends", async () => {
    const held = gate();
    const background = Background.create({ maxRunning: 1 });
    background.start("first", () => held.passed);
    const route = get(Path.of("x"), { returns: Returns.text }, () => {
      background.start("second", () => {});
      return "x";
    });
    const { fetch } = App.make([route]);
    const refused = await fetch(new Request("http://h/x"));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(background.running).toEqual(["first"]);
    expect(await background.settled(0)).toBe(1);
    held.open();
    expect(await settle(background)).toBe(0);
    expect((await fetch(new Request("http://h/x"))).status).toBe(200);
    await settle(background);
    expect(background.running).toEqual([]);
  });

  it("aborts the signals of running and of later work when its app stops", async () => {
    const background = Background.create();
    const app = App.make([], { background });
    const seen: string[] = [];
    background.start("loop", async (signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      seen.push("ended");
    });
    background.start("soon", (signal) => seen.push(`began ${signal.aborted}`));
    await expect.poll(() => seen).toEqual(["began false"]);
    app.drain();
    background.start("late", (signal) => seen.push(`late ${signal.aborted}`));
    expect(await settle(background)).toBe(0);
    expect(seen.toSorted()).toEqual(["began false", "ended", "late true"]);
    let isTold = false;
    background.onDrain(() => (isTold = true));
    expect(isTold).toBe(true);
  });
});

describe("a server that stops", () => {
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it("waits for work that a task of `after` starts, and for tasks of calls that the work makes", async () => {
    const background = Background.create();
    const done: string[] = [];
    const letter = get(Path.of("letter"), { inputs: { after }, returns: Returns.text }, ({ after }) => {
      after(async () => {
        await pause(30);
        done.push("letter");
      });
      return "letter";
    });
    const begin = get(Path.of("begin"), { inputs: { after }, returns: Returns.text }, ({ after }) => {
      after(async () => {
        await pause(30);
        background.start("the index", async () => {
          await pause(30);
          done.push("index");
          await server.app.fetch(new Request("http://h/letter"));
        });
      });
      return "begun";
    });
    const server = await serve([letter, begin], { port: 0, background, signals: false });
    await (await fetch(`${server.url}/begin`)).text();
    expect(await server.stop()).toBe(0);
    expect(done).toEqual(["index", "letter"]);
    expect(lines().filter(({ level }) => level === "warn")).toEqual([]);
  });
});

const held = { toFake: ["setTimeout", "clearTimeout", "Date"] } satisfies Parameters<typeof vi.useFakeTimers>[0];

/** Alarms under a clock that only `pass` advances. */
const alarm = (maxSet?: number) => {
  const background = Background.create();
  const what = "the end of a turn";
  const alarms = Alarm.create(maxSet === undefined ? { background, what } : { background, what, maxSet });
  const fired: unknown[] = [];
  /** Advances the clock, and waits for the work that this started. */
  const pass = async (ms: number) => {
    vi.advanceTimersByTime(ms);
    while (background.running.length > 0) await new Promise((resolve) => setImmediate(resolve));
    return fired.splice(0);
  };
  return { background, alarms, fired, pass, fires: (what: unknown) => () => void fired.push(what) };
};

describe("Alarm.set", () => {
  beforeEach(() => void vi.useFakeTimers(held));
  afterEach(() => void vi.useRealTimers());

  it("AL-04 replaces an earlier alarm with the same key", async () => {
    const { alarms, pass, fires } = alarm();
    alarms.set("game", 60_000, fires("first"));
    alarms.set("game", 20, fires("second"));
    expect([alarms.size, await pass(19)]).toEqual([1, []]);
    expect(await pass(1)).toEqual(["second"]);
    expect([alarms.size, await pass(120_000)]).toEqual([0, []]);
  });

  it.each([
    ["forward", 86_400_000],
    ["back", -86_400_000],
  ])("AL-06 does not move when the system time jumps %s", async (_where, byMs) => {
    const { alarms, pass, fires } = alarm();
    alarms.set("game", 1000, fires("alarm"));
    vi.setSystemTime(Date.now() + byMs);
    expect(await pass(999)).toEqual([]);
    expect(await pass(1)).toEqual(["alarm"]);
  });

  it("treats different keys, and keys of different types, as different alarms", async () => {
    const { alarms, pass, fires } = alarm();
    for (const key of [7, "7", 7n, "__proto__"]) alarms.set(key, 5, fires(key));
    expect(alarms.cancel(7)).toBe(true);
    expect(alarms.cancel(7)).toBe(false);
    expect(alarms.cancel("constructor")).toBe(false);
    expect(await pass(5)).toEqual(["7", 7n, "__proto__"]);
  });
});

describe("the time and the limit of alarms", () => {
  beforeEach(() => void vi.useFakeTimers(held));
  afterEach(() => void vi.useRealTimers());

  it.each([
    [-5, 0],
    [0, 0],
    [2 ** 31, 2 ** 31],
    [3 * 2 ** 31 + 5, 3 * 2 ** 31 + 5],
  ])("an alarm in %s ms fires after %s", async (inMs, after) => {
    const { alarms, pass, fires } = alarm();
    alarms.set("a", inMs, fires("alarm"));
    if (after > 0) expect(await pass(after - 1)).toEqual([]);
    expect(await pass(1)).toEqual(["alarm"]);
  });

  it("an alarm may set itself again", async () => {
    const { alarms, pass, fired } = alarm();
    const tick = (): void => {
      fired.push("tick");
      alarms.set("tick", 10, tick);
    };
    alarms.set("tick", 10, tick);
    for (let i = 0; i < 3; i++) expect(await pass(10)).toEqual(["tick"]);
    expect(alarms.cancel("tick")).toBe(true);
    expect(await pass(100)).toEqual([]);
  });

  it("refuses more than maxSet alarms, but replaces an alarm that is set", async () => {
    const { alarms, pass, fires } = alarm(2);
    for (const key of ["a", "b", "a"]) alarms.set(key, 10, fires(key));
    expect(() => alarms.set("c", 10, fires("c"))).toThrow(expect.objectContaining({ code: Refusal.busy }));
    expect(await pass(10)).toEqual(["b", "a"]);
    alarms.set("c", 10, fires("c"));
    expect(await pass(10)).toEqual(["c"]);
  });

  it("an alarm is dropped when the server stops, and cannot be set afterwards", async () => {
    const { alarms, background, pass, fires } = alarm();
    alarms.set("a", 10, fires("a"));
    background.drain();
    alarms.set("b", 10, fires("b"));
    expect([alarms.size, await pass(100)]).toEqual([0, []]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it("an alarm that Background refuses logs an error", async () => {
  const background = Background.create({ maxRunning: 1 });
  const held = gate();
  background.start("long", () => held.passed);
  Alarm.create({ background, what: "the end of a turn" }).set("a", 0, () => {});
  await expect
    .poll(() => lines().map(({ level, message }) => [level, message]))
    .toEqual([["error", "the end of a turn was not run: busy: maxRunning (1) works run"]]);
  held.open();
  await settle(background);
});

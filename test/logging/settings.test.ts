/** Settings as texts, tags, and carrying a context (contract 8; facts 11.1; rows LG-13, LG-15, LG-16, LG-21). */
import { EventEmitter, once } from "node:events";
import { setTimeout as after } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { Log, Path, Returns, Test, get } from "usher-http";
import { useSink } from "../../src/logging/writer.ts";
import { gate } from "../support/gate.ts";
import { lines, logWith, logged } from "../support/logs.ts";
import type { Line } from "../support/logs.ts";

const shop = Log.source("shop");
const text = { returns: Returns.text };

describe("Log.configure", () => {
  const words = ["error", "warn", "info", "debug"] as const;
  /** The levels that two sources write. */
  const written = () => {
    const before = lines().length;
    for (const word of words) for (const source of ["shop", "till"]) Log.source(source)[word]("x");
    const said = lines().slice(before);
    return ["shop", "till"].map((source) => said.filter((line) => line["logger.name"] === source).length);
  };

  it.each([
    ["LG-16", undefined, [3, 3]],
    ["LG-16", "", [3, 3]],
    ["LG-16", " , ,", [3, 3]],
    ["LG-15", "debug", [4, 4]],
    ["LG-15", " WARN ", [2, 2]],
    ["LG-15", "warning", [2, 2]],
    ["LG-15", "off", [0, 0]],
    ["LG-15", "quiet", [0, 0]],
    ["LG-15", "shop=debug", [4, 3]],
    ["LG-15", "error, shop = Debug ,", [4, 1]],
    ["LG-15", "off,shop=error", [1, 0]],
    ["LG-15", "shop=off", [0, 3]],
    ["LG-15 the last of two defaults counts", "debug,error", [1, 1]],
    ["LG-15 the last of a source counts", "shop=debug,shop=warn", [2, 3]],
    ["LG-15 a source nobody has", "nobody=debug", [3, 3]],
    ["LG-15 of no word of ours", "__proto__=debug", [3, 3]],
  ])("%s levels %j", (_id, levels, expected) => {
    expect(Log.configure({ levels })).toEqual({ ok: true, value: undefined });
    expect(written()).toEqual(expected);
  });

  it.each([
    ["loud", '"loud" is not a log level: error, warn, info, debug or off'],
    ["info, Shop=Loud ,debug", '"Shop=Loud" is not a log level: error, warn, info, debug or off'],
    ["shop=", '"shop=" is not a log level: error, warn, info, debug or off'],
    ["=", '"=" is not a log level: error, warn, info, debug or off'],
    ["info debug", '"info debug" is not a log level: error, warn, info, debug or off'],
    ["constructor", '"constructor" is not a log level: error, warn, info, debug or off'],
  ])("LG-15 levels %j are refused by name, and no setting changes", (levels, error) => {
    logWith({ level: "error" });
    expect(Log.configure({ levels, format: "pretty" })).toEqual({ ok: false, error });
    expect(written()).toEqual([1, 1]);
  });

  it.each([
    ["json", /^\{/],
    [" JSON\n", /^\{/],
    ["Pretty", /^\d\d:/],
    ["", /^[{\d]/],
    [undefined, /^[{\d]/],
  ])("LG-16 format %j", (format, expected) => {
    expect(Log.configure({ format }).ok).toBe(true);
    shop.info("x");
    expect(logged()[0]).toMatch(expected);
  });

  it.each([
    ["XML", '"xml" is not a log format: pretty or json'],
    ["json,pretty", '"json,pretty" is not a log format: pretty or json'],
  ])("LG-15 format %j is refused", (format, error) => {
    expect(Log.configure({ format })).toEqual({ ok: false, error });
  });
});

describe("Log.tags", () => {
  /** A line's members after its message. */
  const members = (line: number) => Object.entries(lines()[line] ?? {}).slice(4);

  it("are on every line that is logged while the function runs, before the line's own", async () => {
    const answer = await Log.tags({ "shop.order": 7, "shop.gift": true }, async () => {
      shop.info("first", { "shop.item": "pen" });
      await after(1);
      shop.info("later");
      return 1;
    });
    shop.info("outside");
    expect(answer).toBe(1);
    const tags = [
      ["shop.order", 7],
      ["shop.gift", true],
    ];
    expect([0, 1, 2].map(members)).toEqual([[...tags, ["shop.item", "pen"]], tags, []]);
  });

  it("the innermost of two with one name is used, and no member occurs twice", () => {
    Log.tags({ a: 1, b: 1 }, () => Log.tags({ b: 2, c: 2 }, () => shop.info("x", { c: 3 })));
    expect(members(0)).toEqual([
      ["a", 1],
      ["b", 2],
      ["c", 3],
    ]);
    expect(logged()[0]?.match(/"c":/g)).toHaveLength(1);
  });

  it("follow a request's ids, which stay unchanged", async () => {
    const tagged = get(Path.root, text, () =>
      Log.tags({ "shop.order": 7 }, () => (shop.info("x"), Log.requestId() ?? "")),
    );
    const { body, headers } = await Test.call(Test.app([tagged]), "GET", "/");
    expect(body).toBe(headers.get("x-request-id"));
    expect(members(0).map(([key]) => key)).toEqual(["request_id", "trace_id", "span_id", "shop.order"]);
    expect(members(1)).not.toContainEqual(["shop.order", 7]);
  });

  it("are on the line of what a handler inside them throws, and not on the access line", async () => {
    const app = Test.app(
      [
        get(Path.of("throws"), text, () => {
          throw new Error("mine");
        }),
        get(Path.of("rejects"), text, () => after(1).then(() => Promise.reject(new Error("mine")))),
      ],
      { middleware: [(_request, next) => Log.tags({ "shop.tenant": 7 }, next)] },
    );
    for (const path of ["/throws", "/rejects"]) {
      logWith({});
      await Test.call(app, "GET", path);
      expect(lines().map((line) => line["shop.tenant"])).toEqual([7, undefined]);
    }
  });

  it("are in a pretty line too", () => {
    logWith({ format: "pretty" });
    Log.tags({ a: 1 }, () => shop.info("x", { b: 2 }));
    expect(logged()[0]).toMatch(/ shop x {2}a=1 {2}b=2$/);
  });

  it("do not catch an exception of their function", () => {
    const raise = () => {
      throw new Error("mine");
    };
    expect(() => Log.tags({ a: 1 }, raise)).toThrow("mine");
  });
});

describe("Log.carry", () => {
  /** The code in a request's handler, and the ids of the lines that it logged in addition to the request's own. */
  async function idsOf(work: () => Promise<void>) {
    const route = get(Path.root, text, async () => {
      await work();
      return "";
    });
    const { headers } = await Test.call(Test.app([route]), "GET", "/");
    const ids = lines().filter((line) => line["logger.name"] === "shop");
    return { own: headers.get("x-request-id"), ids: ids.map((line) => line["request_id"]) };
  }

  it("LG-13 a listener of an emitter has the id of the request that added it, for any caller", async () => {
    const bell = new EventEmitter();
    const say = (what: string) => shop.info(what);
    const { own, ids } = await idsOf(async () => {
      bell.on("ring", say);
      bell.on("ring", Log.carry(say));
    });
    bell.emit("ring", "rang");
    expect(
      lines()
        .slice(-2)
        .map((line) => line["request_id"]),
    ).toEqual([undefined, own]);
    expect(lines().at(-1)?.["trace_id"]).toMatch(/^[0-9a-f]{32}$/);
    expect(ids).toEqual([]);
    const other = await idsOf(async () => void bell.emit("ring", "rang again"));
    expect(
      lines()
        .slice(-3, -1)
        .map((line) => line["request_id"]),
    ).toEqual([other.own, own]);
  });

  it("LG-13 so has the callback of a worker's answer", async () => {
    const worker = new Worker('require("node:worker_threads").parentPort.postMessage(1)', { eval: true });
    const { own, ids } = await idsOf(async () => {
      worker.once(
        "message",
        Log.carry(() => shop.info("answered")),
      );
      await once(worker, "message");
    });
    await worker.terminate();
    expect(ids).toEqual([own]);
  });

  it("passes the arguments and the result, keeps tags, and does nothing else outside of a request", () => {
    const add = Log.tags({ a: 1 }, () =>
      Log.carry((x: number, y: number) => {
        shop.info("added");
        return x + y;
      }),
    );
    expect(add(1, 2)).toBe(3);
    expect(lines()[0]).toMatchObject({ a: 1 });
    expect(Log.carry(() => Log.requestId())()).toBeUndefined();
  });
});

it("LG-21 a line that is logged while another one is made is a line of its own", () => {
  const out: string[] = [];
  Log.setup({
    format: "json",
    out: (line) => {
      out.push(line);
      if (out.length === 1) shop.info("inner");
    },
  });
  const field = {
    get value() {
      return "x";
    },
  };
  shop.info("outer", field);
  expect(out.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(["outer", "inner"]);
});

it("what a destination logs for each line that it gets is on standard error, and does not call it for ever", () => {
  const own: string[] = [];
  const others: string[] = [];
  useSink({ write: (line) => void others.push(line), format: "json" });
  Log.setup({
    format: "json",
    out: (line) => {
      own.push(line);
      shop.error(`failed ${own.length}`);
      throw new Error("full");
    },
  });
  for (const message of ["one", "two"]) shop.info(message);
  useSink({ write: (line) => console.error(line), format: "json" });
  const messagesOf = (texts: readonly string[]) => texts.map((text) => (JSON.parse(text) as Line)["message"]);
  expect(messagesOf(own)).toEqual(["one", "failed 1", "two", "failed 3"]);
  expect(messagesOf(others)).toEqual(["failed 2", "failed 4"]);
});

it("what a destination logs later, as after an await, does not call it for ever either", async () => {
  const [own, others]: [string[], string[]] = [[], []];
  const done = gate();
  useSink({ write: (line) => (others.push(line), done.open()), format: "json" });
  const out = async (line: string) => {
    own.push(line);
    await after(1);
    shop.error("failed");
  };
  Log.setup({ format: "json", out: (line) => void out(line) });
  shop.info("one");
  await done.passed;
  await after(20);
  useSink({ write: (line) => console.error(line), format: "json" });
  expect([own.length, others.length]).toEqual([2, 1]);
});

it.each([
  [
    "throws",
    () => {
      throw new Error("full");
    },
  ],
  ["rejects", () => Promise.reject(new Error("full"))],
  [
    "rejects later",
    async () => {
      await after(1);
      throw new Error("full");
    },
  ],
])("a destination that %s loses a line, and no request fails", async (_how, out: () => unknown) => {
  const unheard: unknown[] = [];
  const hear = (reason: unknown) => void unheard.push(reason);
  process.on("unhandledRejection", hear);
  Log.setup({ out });
  const app = Test.app([get(Path.root, { returns: Returns.text }, () => (shop.info("x"), "fine"))]);
  expect((await Test.call(app, "GET", "/")).body).toBe("fine");
  await after(5);
  process.off("unhandledRejection", hear);
  expect(unheard).toEqual([]);
});

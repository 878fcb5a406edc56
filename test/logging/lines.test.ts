/** The parts of a log line (contract 2.12, 8; facts 11.2; rows LG-01, LG-03, LG-18, LG-19; LG-22 is of another implementation). */
import { describe, expect, it } from "vitest";
import { Log, Path, Returns, Test, get } from "usher-http";
import { lines, logWith, logged } from "../support/logs.ts";

const shop = Log.source("shop");

describe("a JSON line: members", () => {
  it("LG-01 is one object: time, level, source, message, and the fields in their order", () => {
    shop.info("moved d4", { z: 1, a: "x", m: true });
    expect(logged()).toHaveLength(1);
    expect(logged()[0]).toMatch(
      /^\{"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","level":"info","logger\.name":"shop","message":"moved d4","z":1,"a":"x","m":true\}$/,
    );
  });

  it("LG-01 in a request the three ids are before the fields", async () => {
    const route = get(Path.root, { returns: Returns.text }, () => (shop.info("moved", { a: 1 }), ""));
    await Test.call(Test.app([route]), "GET", "/");
    expect(logged()[0]).toMatch(
      /^\{"timestamp":"[^"]+","level":"info","logger\.name":"shop","message":"moved","request_id":"[0-9a-z]{12}","trace_id":"[0-9a-f]{32}","span_id":"[0-9a-f]{16}","a":1\}$/,
    );
  });

  it("LG-01 the time is that of the system clock, in milliseconds", () => {
    const before = Date.now();
    shop.info("now");
    const at = Date.parse(String(lines()[0]?.["timestamp"]));
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it("LG-03 has four words for its level", () => {
    logWith({ level: "debug" });
    for (const level of ["error", "warn", "info", "debug"] as const) shop[level]("x");
    expect(lines().map(({ level }) => level)).toEqual(["error", "warn", "info", "debug"]);
  });
});

describe("a JSON line: values", () => {
  it("fields are numbers, strings and booleans; a number without a double is a string, and NaN is null", () => {
    shop.info("x", {
      int: 9007199254740991,
      float: 0.5,
      big: 9007199254740993n,
      small: -9007199254740993n,
      fits: 7n,
      huge: 2 ** 60,
      negative: -(2 ** 60),
      larger: 1e300,
      nan: Number.NaN,
      infinite: Number.NEGATIVE_INFINITY,
      none: undefined,
      no: false,
    });
    expect(logged()[0]).toContain(
      '"int":9007199254740991,"float":0.5,"big":"9007199254740993","small":"-9007199254740993","fits":7,"huge":"1152921504606846976","negative":"-1152921504606846976","larger":"1e+300","nan":null,"infinite":null,"no":false}',
    );
  });

  it("is valid JSON for every value of a program without types", () => {
    const odd = { when: new Date(0), list: [1, 2], object: {}, none: null, symbol: Symbol("s"), call: () => "" };
    shop.info("x", odd as never);
    expect(lines()[0]).toMatchObject({ list: "1,2", object: "[object Object]", none: null, symbol: "Symbol(s)" });
  });

  it.each<Log.Format>(["json", "pretty"])("is there for a message that is no text, and for any field: %s", (format) => {
    logWith({ format });
    const textless = Object.create(null) as never;
    shop.error(new RangeError('no "room"') as never);
    shop.error(['a "b"'] as never, { field: textless });
    shop.error(textless);
    const said = ['RangeError: no "room"', 'a "b"', "object"];
    if (format === "json") expect(lines().map(({ message }) => message)).toEqual(said);
    else expect(logged().map((line) => said.find((text) => line.includes(text)))).toEqual(said);
    expect(logged()[1]).toContain(format === "json" ? '"field":"object"' : "field=object");
  });

  it.each<Log.Format>(["json", "pretty"])("is there for fields that cannot be read, without them: %s", (format) => {
    const refuse = () => {
      throw new Error("unreadable");
    };
    logWith({ format });
    shop.error("getter", Object.defineProperty({}, "a", { get: refuse, enumerable: true }));
    shop.error("proxy", new Proxy({}, { ownKeys: refuse }));
    Log.tags({ "shop.tag": 1 }, () => shop.error("null", null as never));
    expect(logged().map((line) => ["getter", "proxy", "null"].find((text) => line.includes(text)))).toEqual([
      "getter",
      "proxy",
      "null",
    ]);
    expect(logged()[2]).toContain("shop.tag");
  });

  it.each([
    '"',
    "\\",
    "\n",
    "\r\n",
    "\u0000",
    "\u001b[31m",
    "\u2028",
    "é🙂",
    "\ud800",
    "</script>",
    "x".repeat(10_000),
  ])("any text is one line of JSON, and is read back unchanged: %j", (text) => {
    const odd = Log.source(text);
    odd.error(text, { [text]: text });
    expect(logged()[0]).not.toMatch(/[\n\r]/);
    const [line] = lines();
    expect([line?.["message"], line?.["logger.name"]]).toEqual([text, text]);
    // As text: once V8 has read the member "\\", Node 24 and 26 take one named "\n" for it (JSON.parse of the platform's).
    expect(logged()[0]).toContain(`,${JSON.stringify(text)}:${JSON.stringify(text)}}`);
  });

  it("a field with a name of the line's own is there once, as field.<name>", async () => {
    const own = {
      timestamp: "t",
      level: "fatal",
      "logger.name": "n",
      message: "m",
      request_id: "r",
      trace_id: "i",
      span_id: "s",
    };
    const fields = { "shop.a": 1, ...own };
    const kept = Object.fromEntries(Object.entries(own).map(([name, value]) => [`field.${name}`, value]));
    const names = (line: string) => [...line.matchAll(/"([^"]+)":/g)].map(([, name]) => name);
    const once = (line: string) => expect(names(line)).toEqual([...new Set(names(line))]);
    const route = get(Path.of("x"), { returns: Returns.text }, () => {
      shop.info("in", fields);
      Log.tags(fields, () => shop.info("tagged", { level: "own", "field.message": "given" }));
      return "";
    });
    await Test.call(Test.app([route]), "GET", "/x");
    const [inside, tagged] = lines().filter(({ "logger.name": name }) => name === "shop");
    expect(inside).toMatchObject({ level: "info", message: "in", "shop.a": 1, ...kept });
    expect(tagged).toMatchObject({
      level: "info",
      message: "tagged",
      "shop.a": 1,
      ...kept,
      "field.level": "own",
      "field.message": "given",
    });
    expect([inside?.["request_id"], inside?.["trace_id"]]).not.toContain("r");
    for (const line of logged()) once(line);
  });

  it("a field with the name of an id stays outside of a request, where the line has none", () => {
    shop.info("out", { request_id: "r", trace_id: "t", level: "l" });
    expect(logged()[0]).toMatch(/"message":"out","request_id":"r","trace_id":"t","field.level":"l"\}$/);
  });

  it("a field named __proto__ is a field", () => {
    shop.info("x", JSON.parse('{"__proto__":"p","a":1}') as Log.Fields);
    expect(logged()[0]).toMatch(/"message":"x","__proto__":"p","a":1\}$/);
  });
});

describe("levels", () => {
  const say = (source: Log.Source) => {
    for (const level of ["error", "warn", "info", "debug"] as const) source[level](level);
  };
  const heard = (options: Log.LogOptions) => {
    logWith(options);
    say(shop);
    return lines().map(({ level }) => level);
  };
  it.each([
    [{}, ["error", "warn", "info"]],
    [{ level: "error" }, ["error"]],
    [{ level: "warn" }, ["error", "warn"]],
    [{ level: "debug" }, ["error", "warn", "info", "debug"]],
    [{ level: undefined }, []],
    [{ level: "error", levels: { shop: "debug" } }, ["error", "warn", "info", "debug"]],
    [{ level: "debug", levels: { shop: undefined } }, []],
    [{ level: undefined, levels: { shop: "warn" } }, ["error", "warn"]],
    [{ levels: { other: "debug" } }, ["error", "warn", "info"]],
    [{ levels: {}, level: "warn" }, ["error", "warn"]],
  ] satisfies readonly (readonly [Log.LogOptions, readonly Log.Level[]])[])("%j", (options, expected) => {
    expect(heard(options)).toEqual(expected);
  });

  it("a source with the name of an Object.prototype member has the default level", () => {
    logWith({ levels: {} });
    say(Log.source("constructor"));
    expect(lines()).toHaveLength(3);
  });

  it.each([
    [{ level: "verbose" }, 'Log.setup: level is "verbose", and not error, warn, info, debug or undefined'],
    [{ levels: { shop: "off" } }, 'Log.setup: shop is "off", and not error, warn, info, debug or undefined'],
    [{ format: "JSON" }, 'Log.setup: format is "JSON", and not pretty, json or undefined'],
  ])("%j is refused, and no setting changes", (options, message) => {
    expect(() => Log.setup(options as never)).toThrow(new TypeError(message));
    say(shop);
    expect(lines()).toHaveLength(3);
  });

  it("Log.setup replaces all settings", () => {
    logWith({ level: "error", levels: { shop: "debug" } });
    expect(heard({})).toEqual(["error", "warn", "info"]);
  });
});

it("a destination that fails does not throw into the code that logs", async () => {
  Log.setup({
    out: () => {
      throw new Error("full");
    },
  });
  expect(() => shop.error("x")).not.toThrow();
  const route = get(Path.root, { returns: Returns.text }, () => "fine");
  expect((await Test.call(Test.app([route]), "GET", "/")).body).toBe("fine");
});

/** Lines for a terminal (contract 7.6; rows LG-18, LG-19). */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Log, Path, Returns, Test, get } from "usher-http";
import { batch, useSink } from "../../src/logging/writer.ts";
import { logWith, logged } from "../support/logs.ts";

const shop = Log.source("shop");

describe("a pretty line", () => {
  it("LG-19 time, level, source, message, fields", () => {
    logWith({ format: "pretty" });
    shop.info("moved d4", { piece: "pawn", n: 1.5 });
    shop.error("lost", {});
    expect(logged()[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} info {2}shop moved d4 {2}piece=pawn {2}n=1\.5$/);
    expect(logged()[1]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} error shop lost$/);
  });

  it("LG-18 in a request has its id, and no trace", async () => {
    logWith({ format: "pretty" });
    const route = get(Path.of("hello", Path.str("name")), { returns: Returns.text }, () => "hi");
    const { headers } = await Test.call(Test.app([route]), "GET", "/hello/kim");
    const [line = ""] = logged();
    expect(line).toContain(` info  framework.http [${headers.get("x-request-id")}] GET /hello/kim 200  duration=`);
    expect(line).toMatch(/ {2}duration=\d+\.\d ms {2}http\.response\.body\.size=2 {2}http\.route=\/hello\/\{name\}$/);
    expect(line).not.toMatch(/[0-9a-f]{16}/);
    expect(line).not.toContain("trace");
  });

  it("LG-19 the time is local", () => {
    logWith({ format: "pretty" });
    const before = new Date();
    shop.info("x");
    const [hours, minutes] = (logged()[0] ?? "").split(":");
    const after = new Date();
    const times = [before, after].map((at) => [at.getHours(), at.getMinutes()].map((n) => String(n).padStart(2, "0")));
    expect(times).toContainEqual([hours, minutes]);
  });

  it("control characters of an application's text are escaped, and a line stays one line", () => {
    logWith({ format: "pretty" });
    shop.info("a\nb\u001b[31m\r\u2028\u0085", { "k\n": "v\u001b\u0000" });
    expect(logged()[0]).toMatch(/^[\x20-\x7e]*$/);
  });
});

describe("a pretty line does not repeat text", () => {
  it.each([
    ["GET /a 404", { "http.request.method": "GET", "url.path": "/a", "http.response.status_code": 404 }, ""],
    ["GET /a: gone: why", { "framework.refusal.code": "gone", "http.route": "/{x}" }, "  http.route=/{x}"],
    ["GET /ab 200", { "url.path": "/a" }, "  url.path=/a"],
    [
      "GET /a 200",
      { "http.response.status_code": 200, "http.response.body.size": 200 },
      "  http.response.body.size=200",
    ],
    ["sold a pen", { "shop.item": "pen", item: "pen" }, "  shop.item=pen  item=pen"],
    ["took", { duration: 18_000_000 }, "  duration=18.0 ms"],
    ["took", { duration: 49_999 }, "  duration=0.0 ms"],
    ["took", { duration: "long", "shop.duration": 5 }, "  duration=long  shop.duration=5"],
  ])("%s %j", (message, fields, shown) => {
    logWith({ format: "pretty" });
    shop.info(message, fields);
    expect(logged()[0]?.slice("12:00:00.000 ".length)).toBe(`info  shop ${message}${shown}`);
  });
});

describe("a stack trace", () => {
  const own = (name: string) => `at ${name} (file:///app/node_modules/usher-http/dist/app.js:1:2)`;
  const mine = "at place (/home/kim/usher-http-shop/src/main.ts:3:4)";
  const library = "at run (/app/node_modules/postgres/src/index.js:5:6)";
  it.each([
    ["has a line for each frame", [mine, library], [mine, library]],
    ["has one line for the framework's own", [mine, own("a"), own("b")], [mine, "... 2 frames of usher-http"]],
    [
      "between others, too",
      [own("a"), mine, own("b")],
      ["... 1 frame of usher-http", mine, "... 1 frame of usher-http"],
    ],
    ["on Windows, too", ["at a (C:\\app\\node_modules\\usher-http\\dist\\app.js:1:2)"], ["... 1 frame of usher-http"]],
    ["that is empty has none", [], []],
    ["brings no control sequence", ["at \u001b[31m (x:1:2)"], ["at \\u001b[31m (x:1:2)"]],
  ])("%s", (_what, stack, shown) => {
    logWith({ format: "pretty" });
    shop.error("lost", { "error.kind": "Error", "error.stack": stack.join("\n"), n: 1 });
    const [line, ...frames] = (logged()[0] ?? "").split("\n");
    expect(line).toMatch(/ error shop lost {2}error\.kind=Error {2}n=1$/);
    expect(frames).toEqual(shown.map((frame) => `    ${frame}`));
  });
});

describe("colors", () => {
  const written: string[] = [];
  const terminal = (isColored: boolean) =>
    batch({
      format: "pretty",
      isColored,
      write: (bytes) => written.push(new TextDecoder().decode(bytes)) && bytes.length,
    });
  afterEach(() => {
    written.length = 0;
    useSink({ write: (line) => console.error(line), format: "json" });
  });

  function says(isColored: boolean, level: Log.Level, format?: Log.Format): string {
    const sink = terminal(isColored);
    useSink(sink);
    Log.setup({ level: "debug", ...(format && { format }) });
    shop[level]("x", { "error.stack": "at a (b:1:2)" });
    sink.finish();
    return written.join("");
  }

  it.each([
    ["error", "31"],
    ["warn", "33"],
    ["info", "32"],
    ["debug", "34"],
  ] as const)("follow the level, on a terminal with colors: %s", (level, color) => {
    const padded = level.padEnd(5);
    expect(says(true, level).replace(/\d\d:\d\d:\d\d\.\d{3}/, "time")).toBe(
      `\u001b[2mtime\u001b[0m \u001b[${color}m${padded}\u001b[0m shop x\n    \u001b[2mat a (b:1:2)\u001b[0m\n`,
    );
  });

  it("are left out on a terminal without colors, and in JSON", () => {
    expect(says(false, "error")).not.toContain("\u001b");
    written.length = 0;
    expect(says(true, "error", "json")).not.toContain("\u001b");
  });

  it("are left out when the program itself receives the lines", () => {
    useSink(terminal(true));
    logWith({ format: "pretty" });
    shop.error("x");
    expect(logged()[0]).not.toContain("\u001b");
  });
});

describe("a line before the server listens", () => {
  beforeEach(() => void vi.resetModules());
  afterEach(() => void vi.restoreAllMocks());

  it.each([
    ["text on a terminal", { isatty: () => true }, /^\d\d:\d\d:\d\d\.\d{3} info {2}shop opened$/],
    ["JSON elsewhere", { isatty: () => false }, /^\{"timestamp":.*"message":"opened"\}$/],
    ["JSON where the runtime does not tell", undefined, /^\{"timestamp":.*"message":"opened"\}$/],
  ])("is %s", async (_, tty, line) => {
    const printed = vi.spyOn(console, "error").mockReturnValue();
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(tty);
    const { Log } = await import("usher-http");
    Log.source("shop").info("opened");
    expect(printed.mock.calls).toEqual([[expect.stringMatching(line)]]);
  });
});

/** Where a line goes that no `out` takes: on Workers to the console's function of its level, elsewhere to standard error. */
import { afterEach, describe, expect, it, vi } from "vitest";

const functions = ["error", "warn", "log", "info", "debug"] as const;

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** The console's functions that a line of each level is written by. */
async function written(): Promise<readonly string[]> {
  // Its own: a listener of another test brings another destination.
  vi.resetModules();
  const Log = await import("../../src/logging/log.ts");
  const called: string[] = [];
  for (const name of functions) {
    vi.spyOn(console, name).mockImplementation((line: string) => {
      called.push(`${name} ${(JSON.parse(line) as { level: string }).level}`);
    });
  }
  Log.setup({ level: "debug", format: "json" });
  const source = Log.source("shop");
  for (const level of ["error", "warn", "info", "debug"] as const) source[level]("said");
  return called;
}

describe("a line without a destination of the program's", () => {
  it("is written by the function of its level on Workers, which show it by that", async () => {
    vi.stubGlobal("WebSocketPair", function WebSocketPair() {});
    expect(await written()).toEqual(["error error", "warn warn", "log info", "log debug"]);
  });

  it("is written to standard error on any other runtime", async () => {
    expect(await written()).toEqual(["error error", "error warn", "error info", "error debug"]);
  });
});

import { afterEach, describe, expect, it } from "vitest";
import { Log } from "usher-http";
import { inBackground } from "../../src/logging/raised.ts";
import { eventually } from "../support/eventually.ts";

afterEach(() => Log.setup());

describe("work that is not awaited", () => {
  it.each([
    ["an error", new TypeError("a secret"), "TypeError"],
    ["a text", "a secret", "string"],
    [
      "an error whose members raise",
      Object.defineProperty(new Error("x"), "stack", {
        get: () => {
          throw new Error("a secret");
        },
      }),
      "Error",
    ],
  ])("becomes an error line if it rejects with %s", async (_what, thrown, kind) => {
    const lines: string[] = [];
    Log.setup({ out: (line) => lines.push(line), format: "json" });
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- anything may be thrown
    inBackground(Promise.reject(thrown));
    await eventually(() => expect(lines).toHaveLength(1));
    const line = JSON.parse(lines[0] as string) as { readonly [name: string]: unknown };
    expect(line).toMatchObject({ level: "error", "logger.name": "framework.http", "error.kind": kind });
    expect(lines[0]).not.toContain("secret");
  });

  it("logs nothing when it succeeds", async () => {
    const lines: string[] = [];
    Log.setup({ out: (line) => lines.push(line), format: "json" });
    inBackground(Promise.resolve());
    await new Promise((resolve) => setImmediate(resolve));
    expect(lines).toEqual([]);
  });
});

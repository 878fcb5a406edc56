/** What becomes of `console.warn` while Deno is kept from saying one thing there. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const deno = "Deno.serve: request.signal aborts on successful responses (legacy behavior).";
const { warn: original } = console;
const first = vi.fn();

beforeEach(() => {
  vi.resetModules();
  first.mockReset();
  console.warn = first;
});
afterEach(() => {
  console.warn = original;
});

/** Hushes it as a fresh process would. */
async function hushed(): Promise<void> {
  const { hushAborts } = await import("../../../adapters/deno/private.ts");
  hushAborts();
}

describe("console.warn", () => {
  it("says all but that, and is what it was once Deno has said it", async () => {
    await hushed();
    console.warn("one", 2);
    console.warn(deno);
    expect(console.warn).toBe(first);
    console.warn("three");
    expect(first.mock.calls).toEqual([["one", 2], ["three"]]);
  });

  it("is hushed once, whoever asks", async () => {
    const { hushAborts } = await import("../../../adapters/deno/private.ts");
    hushAborts();
    const { warn } = console;
    hushAborts();
    expect(console.warn).toBe(warn);
  });

  it("that the application set later stays", async () => {
    await hushed();
    const later = vi.fn();
    console.warn = later;
    console.warn(deno);
    expect(console.warn).toBe(later);
    console.warn("two");
    expect([first.mock.calls, later.mock.calls]).toEqual([[], [[deno], ["two"]]]);
  });

  it("that the application set later, and that calls the one before it, stays and says all but that", async () => {
    await hushed();
    const { warn } = console;
    const later = (...said: unknown[]): void => warn("later", ...said);
    console.warn = (...said) => warn(...said);
    const wrapping = console.warn;
    for (const said of [deno, "one", deno, "two"]) console.warn(said);
    expect(console.warn).toBe(wrapping);
    console.warn = later;
    console.warn("three");
    expect([console.warn, first.mock.calls]).toEqual([later, [["one"], ["two"], ["later", "three"]]]);
  });

  it("that the application puts back is the application's", async () => {
    const spy = vi.fn();
    console.warn = spy;
    await hushed();
    console.warn = first;
    console.warn("one");
    expect([spy.mock.calls, first.mock.calls]).toEqual([[], [["one"]]]);
  });

  it.each([
    ["nothing"],
    ["an object without a prototype", Object.create(null)],
    ["a symbol", Symbol("s")],
    [
      "what raises as a text",
      {
        toString: () => {
          throw new Error("no text");
        },
      },
    ],
  ])("is given %s as it is", async (_what, ...said: unknown[]) => {
    await hushed();
    console.warn(...said);
    expect(first.mock.calls).toEqual([said]);
  });

  it("that nobody may set stays, and a request is answered all the same", async () => {
    Object.defineProperty(console, "warn", { value: first, writable: false, configurable: true });
    try {
      await expect(hushed()).resolves.toBeUndefined();
      expect(console.warn).toBe(first);
    } finally {
      Object.defineProperty(console, "warn", { value: first, writable: true, configurable: true });
    }
  });
});

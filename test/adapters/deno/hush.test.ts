/** `console.warn` while one warning of Deno is hidden. */
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

/** Hides it as a fresh process would. */
async function hushed(): Promise<void> {
  const { hushAborts } = await import("../../../adapters/deno/private.ts");
  hushAborts();
}

describe("console.warn", () => {
  it("prints everything except that warning, and is restored after Deno has printed it", async () => {
    await hushed();
    console.warn("one", 2);
    console.warn(deno);
    expect(console.warn).toBe(first);
    console.warn("three");
    expect(first.mock.calls).toEqual([["one", 2], ["three"]]);
  });

  it("is replaced once, for any number of callers", async () => {
    const { hushAborts } = await import("../../../adapters/deno/private.ts");
    hushAborts();
    const { warn } = console;
    hushAborts();
    expect(console.warn).toBe(warn);
  });

  it("keeps a function that the application set later", async () => {
    await hushed();
    const later = vi.fn();
    console.warn = later;
    console.warn(deno);
    expect(console.warn).toBe(later);
    console.warn("two");
    expect([first.mock.calls, later.mock.calls]).toEqual([[], [[deno], ["two"]]]);
  });

  it("keeps a function that the application set later and that calls the one before it, without the warning", async () => {
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

  it("is restored to the function that the application puts back", async () => {
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
  ])("prints %s unchanged", async (_what, ...said: unknown[]) => {
    await hushed();
    console.warn(...said);
    expect(first.mock.calls).toEqual([said]);
  });

  it("may be read-only, and a request is still answered", async () => {
    Object.defineProperty(console, "warn", { value: first, writable: false, configurable: true });
    try {
      await expect(hushed()).resolves.toBeUndefined();
      expect(console.warn).toBe(first);
    } finally {
      Object.defineProperty(console, "warn", { value: first, writable: true, configurable: true });
    }
  });
});

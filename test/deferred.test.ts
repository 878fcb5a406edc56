/** Deferred values, whose one listener is called synchronously. */
import { describe, expect, it, vi } from "vitest";
import { Deferred, isPending, whenResolved } from "../src/deferred.ts";
import type { MaybePromise } from "../src/deferred.ts";

class Coming extends Deferred<string> {
  override resolve(came: MaybePromise<string>): void {
    super.resolve(came);
  }
}

describe("what comes later", () => {
  it("calls its listener when it resolves, or at once if it has resolved", () => {
    const coming = new Coming();
    const heard = vi.fn();
    coming.passTo({ pass: heard });
    expect(heard).not.toHaveBeenCalled();
    coming.resolve("there");
    expect(heard.mock.calls).toEqual([["there"]]);

    const come = new Coming();
    come.resolve("there");
    whenResolved(come, heard);
    expect(heard).toHaveBeenCalledTimes(2);
  });

  it.each([
    ["itself to come later", (): MaybePromise<string> => new Coming()],
    ["a promise", (): MaybePromise<string> => Promise.resolve("there")],
  ])("calls its listener if it is %s", async (_what, make) => {
    const coming = new Coming();
    const inner = make();
    const heard = new Promise((resolve) => coming.passTo({ pass: resolve }));
    coming.resolve(inner);
    if (inner instanceof Coming) inner.resolve("there");
    expect(await heard).toBe("there");
  });

  it("is awaited like a promise", async () => {
    const coming = new Coming();
    const mapped = coming.then((came) => `${came}!`);
    coming.resolve("there");
    expect(await mapped).toBe("there!");
    const come = new Coming();
    come.resolve("there");
    expect(await come).toBe("there");
  });

  it("rejects if a function of it throws, and `resolve` does not throw", async () => {
    const coming = new Coming();
    const mapped = coming.then(() => {
      throw new Error("no");
    });
    expect(() => coming.resolve("there")).not.toThrow();
    await expect(mapped).rejects.toThrow("no");
  });

  it("is distinguished from a plain value", () => {
    expect([new Coming(), Promise.resolve(""), ""].map(isPending)).toEqual([true, true, false]);
  });
});

describe("the value of a deferred one", () => {
  class Held extends Deferred<number> {
    give(value: MaybePromise<number>): void {
      this.resolve(value);
    }
  }

  it("is available at once if it has resolved, also through another one", () => {
    const [first, second] = [new Held(), new Held()];
    first.give(1);
    second.give(first);
    expect(second.valueOrPromise()).toBe(1);
  });

  it("is a promise where it has not come, or was one", async () => {
    const [first, second] = [new Held(), new Held()];
    const later = first.valueOrPromise();
    first.give(1);
    second.give(Promise.resolve(2));
    expect([later, second.valueOrPromise()]).toEqual([expect.any(Promise), expect.any(Promise)]);
    expect([await later, await second.valueOrPromise()]).toEqual([1, 2]);
  });
});

/** What comes later, and is heard of at once. */
import { describe, expect, it, vi } from "vitest";
import { Later, isToCome, whenThere } from "../../src/deferred.ts";
import type { Soon } from "../../src/deferred.ts";

class Coming extends Later<string> {
  override come(came: Soon<string>): void {
    super.come(came);
  }
}

describe("what comes later", () => {
  it("is heard of the moment it comes, or at once where it has come", () => {
    const coming = new Coming();
    const heard = vi.fn();
    coming.hear(heard);
    expect(heard).not.toHaveBeenCalled();
    coming.come("there");
    expect(heard.mock.calls).toEqual([["there"]]);

    const come = new Coming();
    come.come("there");
    whenThere(come, heard);
    expect(heard).toHaveBeenCalledTimes(2);
  });

  it.each([
    ["itself to come later", (): Soon<string> => new Coming()],
    ["a promise", (): Soon<string> => Promise.resolve("there")],
  ])("is heard of where it is %s", async (_what, make) => {
    const coming = new Coming();
    const inner = make();
    const heard = new Promise((resolve) => coming.hear(resolve));
    coming.come(inner);
    if (inner instanceof Coming) inner.come("there");
    expect(await heard).toBe("there");
  });

  it("is awaited like a promise", async () => {
    const coming = new Coming();
    const mapped = coming.then((came) => `${came}!`);
    coming.come("there");
    expect(await mapped).toBe("there!");
    const come = new Coming();
    come.come("there");
    expect(await come).toBe("there");
  });

  it("rejects where what is made of it throws, and throws at nobody who brings it", async () => {
    const coming = new Coming();
    const mapped = coming.then(() => {
      throw new Error("no");
    });
    expect(() => coming.come("there")).not.toThrow();
    await expect(mapped).rejects.toThrow("no");
  });

  it("is told apart from what is there", () => {
    expect([new Coming(), Promise.resolve(""), ""].map(isToCome)).toEqual([true, true, false]);
  });
});

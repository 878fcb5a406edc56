/** The rules of a store of idempotency keys, whichever it is. */
import { describe, expect, it } from "vitest";
import type { IdempotencyEntry, IdempotencyStore } from "usher-http";

const now = new Date();
const hour = 3_600_000;

/** Describes a store of its own connection: memory, Redis, a table. */
export function itKeepsAnswers(open: () => Promise<IdempotencyStore>): void {
  let made = 0;
  const fresh = () => `digest-${++made}`;
  const claimed = async (
    store: IdempotencyStore,
    digest: string,
    token: string,
    { takesOver = false, leaseMs = hour, keepMs = hour } = {},
  ): Promise<"claimed" | readonly [string | undefined, string | undefined, "holds" | "lost"]> => {
    const entry: IdempotencyEntry | undefined = await store.claim(
      digest,
      { fingerprint: `of ${token}`, token, leaseMs, keepMs, takesOver },
      now,
    );
    if (entry === undefined) return "claimed";
    return [entry.fingerprint, entry.answer, entry.leaseMs > 0 ? "holds" : "lost"];
  };
  const keep = (store: IdempotencyStore, digest: string, token: string, answer: string, keepMs = hour) =>
    store.keep(digest, { fingerprint: `of ${token}`, token, answer, keepMs, refused: undefined }, now);
  const later = () => new Promise((resolve) => setTimeout(resolve, 20));

  describe("a claim of an idempotency key", () => {
    it("is given to one of many concurrent requests", async () => {
      const store = await open();
      const digest = fresh();
      const tokens = Array.from({ length: 20 }, (_, i) => `t${i}`);
      const all = await Promise.all(tokens.map((token) => claimed(store, digest, token)));
      const first = tokens[all.indexOf("claimed")] as string;
      expect(all.filter((one) => one === "claimed")).toHaveLength(1);
      expect(all.filter((one) => one !== "claimed")).toEqual(
        Array.from({ length: 19 }, () => [`of ${first}`, undefined, "holds"]),
      );
    });

    it("is the same for the same token, and another request's after it was freed", async () => {
      const store = await open();
      const digest = fresh();
      expect([await claimed(store, digest, "a"), await claimed(store, digest, "a")]).toEqual(["claimed", "claimed"]);
      await store.free(digest, "b");
      expect(await claimed(store, digest, "b")).toEqual(["of a", undefined, "holds"]);
      await store.free(digest, "a");
      expect(await claimed(store, digest, "b")).toBe("claimed");
    });

    it("is lost after its lease, and may then be taken over", async () => {
      const store = await open();
      const digest = fresh();
      await claimed(store, digest, "a", { leaseMs: 1 });
      await later();
      expect(await claimed(store, digest, "b")).toEqual(["of a", undefined, "lost"]);
      expect(await claimed(store, digest, "b", { takesOver: true })).toBe("claimed");
      expect([await keep(store, digest, "a", "late"), await keep(store, digest, "b", "answer")]).toEqual([false, true]);
    });

    it("lasts longer if it is extended with its own token", async () => {
      const store = await open();
      const digest = fresh();
      await claimed(store, digest, "a", { leaseMs: 1 });
      await store.extend(digest, "b", hour);
      await later();
      expect((await claimed(store, digest, "b"))[2]).toBe("lost");
      await store.extend(digest, "a", hour);
      expect((await claimed(store, digest, "b", { takesOver: true }))[2]).toBe("holds");
    });
  });

  describe("an answer of an idempotency key", () => {
    it("is found with every token, and never replaced, freed or taken over", async () => {
      const store = await open();
      const digest = fresh();
      const answer = JSON.stringify({ body: "\0 \u{1f600} \ud800 '\"\\ $1" });
      expect(await keep(store, digest, "a", answer)).toBe(false);
      await claimed(store, digest, "a", { leaseMs: 1 });
      expect(await keep(store, digest, "a", answer)).toBe(true);
      await later();
      await store.free(digest, "a");
      await store.extend(digest, "a", hour);
      const again = await keep(store, digest, "a", "another");
      const [fingerprint, kept] = await claimed(store, digest, "b", { takesOver: true });
      expect([again, fingerprint, kept]).toEqual([false, "of a", answer]);
    });

    it("expires after its time, like a claim", async () => {
      const store = await open();
      const [kept, lost] = [fresh(), fresh()];
      await claimed(store, kept, "a");
      await keep(store, kept, "a", "answer", 1);
      await claimed(store, lost, "a", { keepMs: 1 });
      await later();
      expect([await claimed(store, kept, "b"), await claimed(store, lost, "b")]).toEqual(["claimed", "claimed"]);
    });
  });
}

/** Concurrent requests with the cookie of one session: a renewal never restores a session after sign-out. */
import { describe, expect, it } from "vitest";
import { Path, Refusal, Returns, Sessions, Test, post, setCookie } from "usher-http";
import type { Session, SessionStore, SetCookie } from "usher-http";
import { messages } from "../support/logs.ts";
import { invalid } from "../support/refusals.ts";
import { itHoldsInEveryOrder, sessionsIn, startIn } from "../support/session-orders.ts";

describe("sessions in memory", () => {
  itHoldsInEveryOrder(async () => Sessions.memory());
});

const now = new Date();

async function found(store: SessionStore): Promise<[one: Session<{ name: string }>, other: Session<{ name: string }>]> {
  const id = await startIn(store);
  const sessions = sessionsIn(store);
  return (await Promise.all([sessions.find(id, now), sessions.find(id, now)])) as [
    Session<{ name: string }>,
    Session<{ name: string }>,
  ];
}

describe("one session in concurrent requests", () => {
  const set: SetCookie[] = [];
  const sets = (cookie: SetCookie): void => void set.push(cookie);

  it("is not renewed after it was closed", async () => {
    const [one] = await found(Sessions.memory());
    await one.close(sets);
    await expect(one.renew(sets)).rejects.toThrow("a session that was closed cannot be renewed");
  });

  it("is renewed once, when one request renews it twice concurrently", async () => {
    const store = Sessions.memory();
    const [one] = await found(store);
    const outcomes = await Promise.allSettled([one.renew(sets), one.renew(sets)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(await store.sweep(new Date(Date.now() + 1e9))).toBe(1);
  });

  it.each([
    ["at once", (one: Session<{ name: string }>) => Promise.all([one.renew(sets), one.close(sets)])],
    ["one after the other", async (one: Session<{ name: string }>) => [await one.renew(sets), await one.close(sets)]],
  ])("ends with its new id, when one request renews and closes it %s", async (_, act) => {
    const store = Sessions.memory();
    const [one] = await found(store);
    await act(one);
    expect(set.at(-1)).toMatchObject({ value: "", maxAgeMs: 0 });
    expect(await store.sweep(new Date(Date.now() + 1e9))).toBe(0);
  });

  it("stays closed, when the store throws for a renewal that runs meanwhile", async () => {
    const store = Sessions.memory();
    const [one] = await found(store);
    store.replace = () => Promise.reject(new Error("away"));
    const renewing = one.renew(sets);
    const closing = one.close(sets);
    await expect(renewing).rejects.toThrow("away");
    await closing;
    await expect(one.update({ name: "ann" })).rejects.toThrow("a session that was closed cannot be updated");
  });

  it("is renewed after the store threw once", async () => {
    const store = Sessions.memory();
    const replace = store.replace.bind(store);
    const [one] = await found(store);
    store.replace = () => Promise.reject(new Error("away"));
    await expect(one.renew(sets)).rejects.toThrow("away");
    store.replace = replace;
    expect((await one.renew(sets)).data).toEqual({ name: "kim" });
  });

  it("keeps the data of another request when it is renewed", async () => {
    const store = Sessions.memory();
    const [one, other] = await found(store);
    await other.update({ name: "ann" });
    set.length = 0;
    await one.renew(sets);
    expect((await sessionsIn(store).find(set[0]?.value, now))?.data).toEqual({ name: "ann" });
  });

  it("is answered as signed out when its renewal was too late, without a cookie", async () => {
    const store = Sessions.memory();
    const sessions = sessionsIn(store);
    const route = post(
      Path.root,
      { inputs: { session: sessions.required, setCookie }, returns: Returns.empty() },
      async ({ session, setCookie }) => {
        await (await found(store))[0].close(() => {});
        for (const { value } of set.splice(0)) await (await sessions.find(value, now))?.close(() => {});
        await session.renew(setCookie);
      },
    );
    set.length = 0;
    await sessions.start(sets, { name: "kim" });
    const headers = { cookie: `session=${set[0]?.value}` };
    const answered = await Test.call(Test.app([route]), "POST", "/", { headers });
    expect(answered.status).toBe(400);
    expect(answered.body).toBe(invalid(["cookie.session", "required", "This is required."]));
    expect(answered.headers.getSetCookie()).toEqual([]);
    expect(messages("error")).toEqual([]);
  });
});

describe("a session store of the older form, without `replace`", () => {
  function older(): SessionStore {
    const { find, save, delete: remove, sweep } = bound(Sessions.memory());
    return { find, save, delete: remove, sweep } as SessionStore;
  }
  function bound(store: SessionStore): SessionStore {
    return new Proxy(store, { get: (inner, name: keyof SessionStore) => inner[name].bind(inner) });
  }

  it("renews a session, and creates no session when it was closed before", async () => {
    const store = older();
    const [one, other] = await found(store);
    await one.close(() => {});
    await expect(other.renew(() => {})).rejects.toBeInstanceOf(Refusal);
    const [again] = await found(store);
    expect((await again.renew(() => {})).data).toEqual({ name: "kim" });
    expect(await store.sweep(new Date(Date.now() + 1e9))).toBe(1);
  });

  it("is logged once", async () => {
    const sessions = sessionsIn(older());
    let id: string | undefined;
    const takes = (cookie: SetCookie): void => void (id = cookie.value);
    await sessions.start(takes, { name: "kim" });
    for (let i = 0; i < 3; i++) await (await sessions.find(id, now))?.renew(takes);
    expect(messages("warn")).toEqual([
      "the store of sessions has no replace: a sign-out at the moment of a renewal can be undone",
    ]);
  });
});

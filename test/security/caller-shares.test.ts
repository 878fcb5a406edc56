/** What is bounded in memory is bounded by caller, too: a flood of one caller pushes out nothing of another one. */
import { describe, expect, it } from "vitest";
import * as v from "valibot";
import {
  ApiKeys,
  App,
  Codec,
  Header,
  Idempotency,
  Path,
  Query,
  Rate,
  Returns,
  Sessions,
  get,
  post,
  setCookie,
} from "usher-http";
import { gate } from "../support/gate.ts";

const text = { returns: Returns.text };
const mebi = 1_048_576;
const caller = Header.default("x-caller", Codec.string, "nobody");

describe("idempotency keys in memory", () => {
  const appOf = (store: Idempotency.IdempotencyStore, answer: () => string | Promise<string>) => {
    const once = Idempotency.by(store, { caller, required: true });
    return App.make([post(Path.of("x"), { inputs: { once }, ...text }, answer)]);
  };
  const send = async (app: App, who: string, key: string) => {
    const headers = { "x-caller": who, "idempotency-key": `"${key}"` };
    const answer = await app.fetch(new Request("http://h/x", { method: "POST", headers }));
    return { status: answer.status, isReplay: answer.headers.get("idempotent-replayed") === "true" };
  };

  it("keep the answers of a caller while another one has 65 answers of 1 MiB", async () => {
    let size = 10;
    const app = appOf(Idempotency.memory(), () => "x".repeat(size));
    for (let n = 0; n < 10; n++) await send(app, "kim", `kim ${n}`);
    size = mebi;
    for (let n = 0; n < 65; n++) await send(app, "flood", `flood ${n}`);
    for (let n = 0; n < 10; n++) expect(await send(app, "kim", `kim ${n}`)).toEqual({ status: 200, isReplay: true });
    expect(await send(app, "flood", "flood 64")).toEqual({ status: 200, isReplay: true });
    expect(await send(app, "flood", "flood 0")).toEqual({ status: 200, isReplay: false });
  });

  it("keep them while another one has as many keys as fit", async () => {
    const app = appOf(Idempotency.memory({ most: 40 }), () => "x");
    for (let n = 0; n < 10; n++) await send(app, "kim", `kim ${n}`);
    for (let n = 0; n < 100; n++) await send(app, "flood", `flood ${n}`);
    for (let n = 0; n < 10; n++) expect((await send(app, "kim", `kim ${n}`)).isReplay).toBe(true);
  });

  it("that are being answered leave space for those of another caller", async () => {
    const over = gate<string>();
    const app = appOf(Idempotency.memory({ most: 800 }), () => over.passed);
    const flood = Array.from({ length: 101 }, (_, n) => send(app, "flood", `flood ${n}`));
    expect((await Promise.race(flood)).status).toBe(503);
    const other = send(app, "kim", "kim");
    over.open("x");
    expect((await other).status).toBe(200);
    expect((await Promise.all(flood)).filter(({ status }) => status === 200)).toHaveLength(100);
    expect((await send(app, "flood", "flood 100")).status).toBe(200);
  });
});

describe("rates in memory", () => {
  it("of a client are counted on while another client sends other keys", async () => {
    const rate = Rate.make({ limit: 1, perMs: 3_600_000, store: Rate.memory({ most: 20 }) });
    const limited = Rate.limit(rate, { key: Query.required("key", Codec.string) });
    const app = App.make([get(Path.of("x"), { inputs: { limited }, ...text }, () => "x")]);
    const ask = async (peer: string, key: string) =>
      (await app.fetch(new Request(`http://h/x?key=${key}`), { peer })).status;
    expect(await ask("192.0.2.1", "kim")).toBe(200);
    for (let n = 0; n < 100; n++) await ask("198.51.100.7", `flood${n}`);
    // Of IPv6 the network counts, so that its addresses are no callers of their own.
    for (let n = 0; n < 100; n++) await ask(`2001:db8::${n}`, `six${n}`);
    expect(await ask("192.0.2.1", "kim")).toBe(429);
  });
});

describe("sessions in memory", () => {
  it("of a client stay while another client starts others", async () => {
    const sessions = Sessions.make({
      idleMs: 60_000,
      absoluteMs: 60_000,
      store: Sessions.memory({ most: 20 }),
      shape: v.object({ name: v.string() }),
    });
    const start = get(Path.of("start"), { inputs: { setCookie }, ...text }, async ({ setCookie }) => {
      await sessions.start(setCookie, { name: "kim" });
      return "";
    });
    const read = get(
      Path.of("read"),
      { inputs: { session: sessions.optional }, ...text },
      ({ session }) => session?.data.name ?? "none",
    );
    const app = App.make([start, read]);
    const begin = async (peer: string) =>
      (await app.fetch(new Request("http://h/start"), { peer })).headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const cookie = await begin("192.0.2.1");
    for (let n = 0; n < 100; n++) await begin("198.51.100.7");
    const answer = await app.fetch(new Request("http://h/read", { headers: { cookie } }), { peer: "192.0.2.1" });
    expect(await answer.text()).toBe("kim");
  });
});

describe("API keys in memory", () => {
  const entry = (owner: string, n: number): ApiKeys.ApiKeyEntry => {
    const [createdAt, expiresAt] = [new Date(0), new Date(1)];
    return {
      id: `${owner} ${n}`,
      digest: `${owner} ${n}`,
      owner,
      name: "",
      scopes: [],
      createdAt,
      expiresAt,
      usedAt: undefined,
    };
  };

  it("of one owner are an eighth at most, and leave space for those of another", async () => {
    const store = ApiKeys.memory({ most: 1000 });
    for (let n = 0; n < 125; n++) await store.add(entry("flood", n));
    await expect(store.add(entry("flood", 125))).rejects.toThrow(
      "ApiKeys.memory: one owner has 125 keys, and no more fit",
    );
    await store.add(entry("kim", 0));
    expect(await store.sweep(new Date(1))).toBe(126);
    for (let n = 0; n < 125; n++) await store.add(entry("flood", n));
  });
});

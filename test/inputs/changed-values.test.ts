/** What a handler changes of the values of its inputs changes nothing else: a `Date` can be changed in TypeScript, too. */
import { describe, expect, it } from "vitest";
import { ApiKeys, Codec, Cookie, Keys, Path, Returns, Test, get, now, request, setCookie } from "usher-http";
import type { Dep } from "usher-http";

const visits = Cookie.signed(Keys.ring("x".repeat(32)), "visits", Codec.int, { maxAgeMs: 60_000 });
const instant = new Date("2026-11-27T19:30:00.000Z");

describe("the time of a request that its handler changes", () => {
  it.each([
    ["the input now", now],
    ["the input request", request],
  ] as const)(
    "by %s is still the time when a cookie was signed",
    async (_, input: Dep<Date | { readonly now: Date }>) => {
      const app = Test.app([
        get(Path.of("set"), { inputs: { input, setCookie }, returns: Returns.empty() }, ({ input, setCookie }) => {
          const today = input instanceof Date ? input : input.now;
          today.setUTCHours(0, 0, 0, 0);
          setCookie(Cookie.make(visits, 1));
        }),
        get(
          Path.of("read"),
          { inputs: { visits: Cookie.required(visits) }, returns: Returns.text },
          ({ visits }) => `${visits}`,
        ),
      ]);
      const browser = Test.browser(app);
      await browser.call("GET", "/set", { now: new Date(instant) });
      expect((await browser.call("GET", "/read", { now: new Date(instant) })).body).toBe("1");
    },
  );
});

describe("an API key in memory", () => {
  it("does not change with what a caller does with its dates and scopes", async () => {
    const store = ApiKeys.memory();
    const keys = ApiKeys.make({ prefix: "shop_live", store });
    const expiresAt = new Date(instant);
    const { entry } = await ApiKeys.create(keys, { owner: "ada", scopes: ["read"], expiresAt });
    expiresAt.setFullYear(2030);
    for (const found of [await store.get(entry.id), ...(await store.list("ada"))]) {
      found?.expiresAt?.setFullYear(2031);
      (found?.scopes as string[] | undefined)?.push("write");
    }
    expect(await store.get(entry.id)).toMatchObject({ expiresAt: instant, scopes: ["read"] });
  });

  it("gives each handler an entry of its own", async () => {
    const keys = ApiKeys.make({ prefix: "shop_live", store: ApiKeys.memory() });
    const caller = ApiKeys.input(keys);
    const { key } = await ApiKeys.create(keys, { owner: "ada", scopes: ["read"] });
    const app = Test.app([
      get(Path.root, { inputs: { caller: caller.scope("read") }, returns: Returns.text }, ({ caller }) => {
        (caller.scopes as string[]).push("write");
        return "changed";
      }),
      get(Path.of("write"), { inputs: { caller: caller.scope("write") }, returns: Returns.text }, () => "written"),
    ]);
    const headers = [["authorization", `Bearer ${key}`]] as const;
    expect((await Test.call(app, "GET", "/", { headers })).status).toBe(200);
    expect((await Test.call(app, "GET", "/write", { headers })).status).toBe(403);
  });
});

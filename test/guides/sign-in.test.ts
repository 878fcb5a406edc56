/** The page on sessions and API keys together: its program, its link in a mail, and its store in Redis. */
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { App, Test } from "usher-http";
import type { Route, SessionStore } from "usher-http";
import { RedisServer, ownRedis } from "../support/redis.ts";
import { itHoldsInEveryOrder, sessionsIn, startIn } from "../support/session-orders.ts";
import { openGuide } from "./project.ts";

const guide = openGuide("sign-in");

describe("the program", () => {
  it("takes a session or a key, and makes keys for people alone", async () => {
    const { routes } = await guide.load<{ routes: readonly Route[] }>("routes.ts");
    const app = App.make(routes);
    const ask = async (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
      app.fetch(new Request(`http://localhost${path}`, { method, headers, ...(body === undefined ? {} : { body }) }));
    const form = { "content-type": "application/x-www-form-urlencoded" };

    expect((await ask("GET", "/me")).status).toBe(401);
    expect((await ask("POST", "/sign-in", form, "name=ada&password=guess")).status).toBe(403);
    const signedIn = await ask("POST", "/sign-in", form, "name=ada&password=correct+horse+battery+staple");
    expect(signedIn.status).toBe(303);
    const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
    expect(await (await ask("GET", "/me", { cookie })).text()).toBe("ada");

    const key = await (await ask("POST", "/keys", { cookie })).text();
    const authorization = `Bearer ${key}`;
    expect(await (await ask("GET", "/me", { authorization })).text()).toBe("ada");
    expect((await ask("POST", "/keys", { authorization })).status).toBe(401);
    expect((await ask("GET", "/me", { cookie, authorization: `${authorization}x` })).status).toBe(401);

    expect((await ask("POST", "/sign-out", { cookie })).status).toBe(303);
    expect((await ask("GET", "/me", { cookie })).status).toBe(401);
    expect(await (await ask("GET", "/me", { authorization })).text()).toBe("ada");
  });

  it("sweeps until it is stopped", async () => {
    const server = await guide.start("server.ts", { PORT: "0" });
    expect((await fetch(`${server.url}/me`)).status).toBe(401);
    expect(await server.stop()).toBe(0);
  });
});

describe("its link in a mail", () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const made = async () => {
    const links: string[] = [];
    const { routesOf } = await guide.load<{
      routesOf: (send: (email: string, link: string) => Promise<void>, origin: string) => readonly Route[];
    }>("link.ts");
    const send = async (email: string, link: string) => void links.push(`${email} ${link}`);
    const browser = Test.browser(Test.app(routesOf(send, "https://shop.example")));
    return { browser, links };
  };

  it("signs in once, by the button of its page and not by the page", async () => {
    const { browser, links } = await made();
    const asked = await browser.call("POST", "/sign-in/links", {
      body: new URLSearchParams({ email: "Ada@example.org" }),
    });
    expect(asked.status).toBe(202);
    const [, token = ""] = /^ada@example\.org https:\/\/shop\.example\/sign-in\?token=(.+)$/.exec(links[0] ?? "") ?? [];
    expect((await browser.call("GET", `/sign-in?token=${token}`)).body).toContain(`value="${token}"`);
    expect((await browser.call("GET", "/me")).body).toBe("nobody");
    const press = () => browser.call("POST", "/sign-in", { headers: form, body: `token=${token}` });
    expect((await press()).status).toBe(303);
    expect((await browser.call("GET", "/me")).body).toBe("ada@example.org");
    expect((await press()).json()).toMatchObject({ error: "wrong_link" });
  });

  it("ends after a quarter of an hour", async () => {
    const { browser, links } = await made();
    const now = new Date();
    await browser.call("POST", "/sign-in/links", { now, body: new URLSearchParams({ email: "ada@example.org" }) });
    const token = links[0]?.split("token=")[1] ?? "";
    const pressed = await browser.call("POST", "/sign-in", {
      headers: form,
      body: `token=${token}`,
      now: new Date(now.getTime() + 15 * 60_000 + 1),
    });
    expect(pressed.status).toBe(403);
  });
});

describe.skipIf(ownRedis.isSkipped)(`its store in Redis${ownRedis.why}`, () => {
  let client: ReturnType<typeof createClient>;
  let store: SessionStore;
  beforeAll(async () => {
    const server = await RedisServer.start();
    client = createClient({ url: server.url });
    client.on("error", () => {});
    await client.connect();
    const module = await guide.load<{ redisSessions: (client: unknown) => SessionStore }>("redis-sessions.ts");
    store = module.redisSessions(client);
  });
  afterAll(() => client.destroy());

  itHoldsInEveryOrder(async () => {
    await client.flushAll();
    // Redis itself deletes what has expired: the test counts what is kept.
    const sweep = async () => {
      const kept = await client.dbSize();
      await client.flushAll();
      return kept;
    };
    return { ...store, sweep };
  });

  it("keeps a session until its end, and Redis deletes it then", async () => {
    await client.flushAll();
    const id = await startIn(store);
    const [key = ""] = await client.keys("*");
    expect(key).toMatch(/^session:[0-9a-f]{64}$/);
    expect(key).not.toContain(id);
    expect(await sessionsIn(store).find(id, new Date())).toMatchObject({ data: { name: "kim" } });
    const left = await client.pTTL(key);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(86_400_000);
  });
});

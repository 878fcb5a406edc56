/** The pages on paths, guards, formats and downloads: their programs answer as the pages say. */
import { describe, expect, it } from "vitest";
import { App } from "usher-http";
import type { Route } from "usher-http";
import { openGuide } from "./project.ts";

interface Fetching {
  readonly fetch: (request: Request) => Response | Promise<Response>;
}

async function answers(url: string, paths: readonly string[]): Promise<readonly (readonly [number, string])[]> {
  return Promise.all(
    paths.map(async (path) => {
      const answer = await fetch(`${url}${path}`);
      return [answer.status, await answer.text()] as const;
    }),
  );
}

describe("paths", () => {
  const guide = openGuide("paths");

  it("a suffix chooses the format, and another one is no route", async () => {
    const server = await guide.start("server.ts", { PORT: "0" });
    const asked = ["/reports/42.csv", "/reports/42.json", "/reports/42", "/reports/42.pdf", "/reports/x.csv"];
    expect(await answers(server.url, asked)).toEqual([
      [200, "id\n42\n"],
      [200, '{"id":42}'],
      [200, "<h1>Report 42</h1>"],
      [404, expect.stringContaining("not_found")],
      [404, expect.stringContaining("not_found")],
    ]);
    expect(await server.stop()).toBe(0);
  });

  it("two routes make an optional segment", async () => {
    const { routes } = await guide.load<{ routes: readonly Route[] }>("optional.ts");
    const app = App.make(routes);
    const bodies = ["/archive", "/archive/1999"].map(async (path) =>
      (await app.fetch(new Request(`http://localhost${path}`))).text(),
    );
    expect(await Promise.all(bodies)).toEqual(["the year 2026", "the year 1999"]);
  });

  it("each host has its app", async () => {
    const { byHost } = await guide.load<{ byHost: Fetching }>("hosts.ts");
    const bodies = ["http://admin.example:8080/", "http://shop.example/"].map(async (url) =>
      (await byHost.fetch(new Request(url))).text(),
    );
    expect(await Promise.all(bodies)).toEqual(["the administration", "the shop"]);
  });

  it("the full URL has the scheme, the host and the query", async () => {
    const { here } = await guide.load<{ here: Route }>("full-url.ts");
    const answer = await App.make([here]).fetch(new Request("http://shop.example:8080/here?page=2"));
    expect(await answer.text()).toBe("http://shop.example:8080/here?page=2");
  });
});

describe("guards", () => {
  const guide = openGuide("guards");
  const signedIn = { authorization: "Bearer t0ken" };

  it("each route of the group needs the sign-in", async () => {
    const { routes } = await guide.load<{ routes: readonly Route[] }>("routes.ts");
    const app = App.make(routes);
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await app.fetch(new Request(`http://localhost${path}`, { headers }));
      return [answer.status, (await answer.text()).slice(0, 20)];
    };
    expect([
      await ask("/admin"),
      await ask("/admin/orders/7"),
      await ask("/admin/nowhere"),
      await ask("/"),
      await ask("/admin", signedIn),
      await ask("/admin/orders/7", signedIn),
    ]).toEqual([
      [401, expect.any(String)],
      [401, expect.any(String)],
      [404, expect.any(String)],
      [200, "Welcome."],
      [200, "Hello, ada."],
      [200, "order 7, for ada"],
    ]);
  });

  it("files and the API page are behind it too", async () => {
    const { files, docs } = await guide.load<{ files: readonly Route[]; docs: readonly Route[] }>("protected.ts");
    const app = App.make([...files, ...docs]);
    for (const path of ["/internal/plan.txt", "/internal/nothing/", "/docs", "/openapi.json"]) {
      const statuses = [{}, signedIn].map(
        async (headers) => (await app.fetch(new Request(`http://localhost${path}`, { headers }))).status,
      );
      const open = path === "/internal/nothing/" ? 404 : 200;
      expect([path, ...(await Promise.all(statuses))]).toEqual([path, 401, open]);
    }
  });

  it("the page's test finds no open route", async () => {
    const { openRoutes } = await guide.load<{ openRoutes: () => Promise<string[]> }>("guards.test.ts");
    expect(await openRoutes()).toEqual([]);
  });
});

it("content negotiation: the preferred type of the list, or 406", async () => {
  const server = await openGuide("content-negotiation").start("server.ts", { PORT: "0" });
  const chosen = [
    [undefined, 200, "application/json; charset=utf-8"],
    ["*/*", 200, "application/json; charset=utf-8"],
    ["text/csv", 200, "text/csv; charset=utf-8"],
    ["text/html,application/xhtml+xml,*/*;q=0.8", 200, "text/html; charset=utf-8"],
    ["application/json;q=0.5, text/*;q=0.7", 200, "text/csv; charset=utf-8"],
    ["text/csv;q=0, text/*", 200, "text/html; charset=utf-8"],
    ["image/png", 406, "application/json"],
  ] as const;
  for (const [accept, status, type] of chosen) {
    // `fetch` would send `*/*` where there is none.
    const headers = { accept: accept ?? "*/*" };
    const answer = await fetch(`${server.url}/orders`, { headers });
    expect([accept, answer.status, answer.headers.get("content-type")]).toEqual([accept, status, type]);
    if (status === 200) expect(answer.headers.get("vary")).toBe("accept");
    await answer.body?.cancel();
  }
  expect(await server.stop()).toBe(0);
});

describe("downloads", () => {
  const guide = openGuide("downloads");

  it("the program sends it, and a missing file is a 404", async () => {
    const server = await guide.start("server.ts", { PORT: "0" });
    const made = await fetch(`${server.url}/made`);
    expect([made.headers.get("content-disposition"), await made.text()]).toEqual([
      "attachment; filename=\"__bersicht 2026.csv\"; filename*=UTF-8''%C3%9Cbersicht%202026.csv",
      "item,quantity\npen,2\n",
    ]);
    expect((await fetch(`${server.url}/stored`)).status).toBe(404);
    expect(await server.stop()).toBe(0);
  });
});

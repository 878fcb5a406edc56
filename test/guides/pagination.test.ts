/** The page on pagination, on PostgreSQL. */
import type * as Usher from "usher-http";
import type * as Database from "usher-http/postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { observer, startPostgres } from "../support/postgres/database.ts";
import { openGuide } from "./project.ts";

const guide = openGuide("pagination");
guide.write("package.ts", 'export * from "usher-http";');
guide.write("database.ts", 'export * from "usher-http/postgres";');
const { App, Dep, Keys, Returns, Path, Test, get } = await guide.load<typeof Usher>("package.ts");
const { Pool, Statement } = await guide.load<typeof Database>("database.ts");

interface Shown {
  readonly database: Usher.Resource<Database.Pool>;
  readonly listOrders: Usher.Route;
  readonly listAfter: Database.Statement<readonly [number, number], readonly object[]>;
  readonly listBefore: Database.Statement<
    readonly [Date | undefined, number | undefined, number],
    readonly { readonly id: number; readonly placed_at: Date }[]
  >;
  readonly cursorWith: (keys: Usher.Keys) => {
    readonly input: Usher.Dep<{ readonly at: Date; readonly id: number } | undefined>;
    readonly seal: (cursor: { readonly at: Date; readonly id: number }) => Promise<string>;
  };
  readonly page: Usher.Dep<{ readonly offset: number; readonly limit: number }>;
  readonly allOrders: (baseUrl: string) => AsyncIterable<{ readonly id: number }>;
}

const server = await startPostgres();
const pool = await Pool.create(server.url(), { size: 2 });
afterAll(() => pool.close());
const outside = observer(server);
const { database, listOrders, listAfter } = await guide.load<Shown>("orders.ts");
const app = Test.app([listOrders], { resources: [Dep.resource(database, pool)] });

beforeAll(async () => {
  await outside.unsafe(/```sql\n([^]*?)```/.exec(guide.text)?.[1] ?? "");
  // Two orders of each millisecond.
  await outside`insert into orders (item, placed_at)
    select 'item ' || n, '2026-01-01'::timestamptz + (n / 2) * interval '1 ms' from generate_series(1, 45) n`;
});

interface Page {
  readonly items: readonly { readonly id: number }[];
  readonly next?: string;
}

describe("a list with a cursor", () => {
  it("has statements that fit the database", async () => {
    const { listBefore } = await guide.load<Shown>("cursor.ts");
    await expect(Statement.verify(pool, [listAfter, listBefore])).resolves.toBeUndefined();
  });

  it("is read to its end with `next`, each row once", async () => {
    const ids: number[] = [];
    const links: (string | null)[] = [];
    for (let target: string | undefined = "/orders"; target !== undefined;) {
      const answered = await Test.call(app, "GET", target);
      const page = answered.json() as Page;
      ids.push(...page.items.map(({ id }) => id));
      links.push(answered.headers.get("link"));
      expect(answered.headers.get("link")).toBe(page.next === undefined ? null : `<${page.next}>; rel="next"`);
      target = page.next;
    }
    expect(ids).toEqual(Array.from({ length: 45 }, (_, i) => i + 1));
    expect(links).toHaveLength(3);
  });

  it("has no next page where the last one is full", async () => {
    const { items, next } = (await Test.call(app, "GET", "/orders?after=40&limit=5")).json() as Page;
    expect([items.length, next]).toEqual([5, undefined]);
    expect((await Test.call(app, "GET", "/orders?after=45")).json()).toEqual({ items: [] });
  });

  it("reports problems of both parameters in one answer", async () => {
    const { status, body } = await Test.call(app, "GET", "/orders?limit=500&after=x");
    const { problems } = JSON.parse(body) as { problems: { at: string; code: string }[] };
    expect([status, problems.map(({ at, code }) => [at, code])]).toEqual([
      400,
      [
        ["query.after", "malformed"],
        ["query.limit", "too_large"],
      ],
    ]);
  });

  it("is served by the program, which ends with SIGTERM", async () => {
    const program = await guide.start("main.ts", { DATABASE_URL: server.url(), PORT: "0" });
    const page = (await (await fetch(`${program.url}/orders?limit=2`)).json()) as Page;
    expect([page.items.map(({ id }) => id), page.next]).toEqual([[1, 2], "/orders?after=2&limit=2"]);
    expect(await program.stop()).toBe(0);
  });

  it("is read by the typed client", async () => {
    const { allOrders } = await guide.load<Shown>("all.ts");
    const { fetch } = globalThis;
    const made = App.make([listOrders], { resources: [Dep.resource(database, pool)] });
    globalThis.fetch = (async (request: Request) => made.fetch(request)) as typeof fetch;
    try {
      const ids: number[] = [];
      for await (const { id } of allOrders("http://localhost")) ids.push(id);
      expect(ids).toHaveLength(45);
    } finally {
      globalThis.fetch = fetch;
    }
  });
});

describe("a sealed cursor", () => {
  it("is what the page's own route seals, from the newest order to the oldest", async () => {
    const { newest } = await guide.load<{ readonly newest: Usher.Route }>("newest.ts");
    const listing = Test.app([newest], { resources: [Dep.resource(database, pool)] });
    const counts: number[] = [];
    const ids = new Set<number>();
    for (let target: string | undefined = "/newest"; target !== undefined;) {
      const { items, next } = (await Test.call(listing, "GET", target)).json() as Page;
      counts.push(items.length);
      for (const { id } of items) ids.add(id);
      target = next === undefined ? undefined : `/newest?cursor=${encodeURIComponent(next)}`;
    }
    expect([counts, ids.size]).toEqual([[20, 20, 5], 45]);
    expect((await Test.call(listing, "GET", "/newest?cursor=x")).status).toBe(400);
  });

  it("goes through rows with one time, each once", async () => {
    const { cursorWith, listBefore } = await guide.load<Shown>("cursor.ts");
    const { input, seal } = cursorWith(Keys.ring("0123456789abcdef0123456789abcdef"));
    const route = get(Path.of("orders"), { inputs: { cursor: input }, returns: Returns.text }, async ({ cursor }) => {
      const rows = await pool.exec(listBefore, cursor?.at, cursor?.id, 7);
      const last = rows.at(-1);
      const next = last === undefined ? "" : await seal({ at: last.placed_at, id: last.id });
      return `${rows.map(({ id }) => id).join()} ${next}`;
    });
    const sealed = Test.app([route]);
    const ids: number[] = [];
    for (let cursor = "?"; cursor !== "";) {
      const [page = "", next = ""] = (await Test.call(sealed, "GET", `/orders${cursor}`)).body.split(" ");
      if (page !== "") ids.push(...page.split(",").map(Number));
      cursor = next === "" ? "" : `?cursor=${next}`;
    }
    expect(ids).toEqual(Array.from({ length: 45 }, (_, i) => 45 - i));
    const wrong = await Test.call(sealed, "GET", "/orders?cursor=abc");
    expect([wrong.status, wrong.body]).toEqual([400, expect.stringContaining("query.cursor")]);
  });
});

it("a page number is limited like the page size", async () => {
  const { page } = await guide.load<Shown>("pages.ts");
  const numbered = Test.app([
    get(Path.of("orders"), { inputs: { page }, returns: Returns.text }, ({ page }) => JSON.stringify(page)),
  ]);
  expect((await Test.call(numbered, "GET", "/orders?page=3&per_page=10")).json()).toEqual({ offset: 20, limit: 10 });
  expect((await Test.call(numbered, "GET", "/orders?page=1001&per_page=0")).json()).toMatchObject({
    problems: [{ at: "query.page" }, { at: "query.per_page" }],
  });
});

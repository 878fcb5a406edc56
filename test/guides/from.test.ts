/** The pages for users of other frameworks: both programs of a page answer the same requests alike. */
import { describe, expect, it } from "vitest";
import { openGuide } from "./project.ts";

interface Fetching {
  readonly app: { readonly fetch: (request: Request) => Response | Promise<Response> };
}

type Answer = (request: Request) => Response | Promise<Response>;

const requests: readonly (readonly [method: string, path: string, body: unknown, status: number, member: object])[] = [
  ["GET", "/orders/1", undefined, 200, { id: 1, item: "pen" }],
  ["GET", "/orders/9", undefined, 404, { error: "not_found" }],
  ["GET", "/orders/x", undefined, 400, { error: "invalid" }],
  ["POST", "/orders", { item: "ink" }, 201, { id: 2, item: "ink" }],
  ["POST", "/orders", { item: "unicorn" }, 409, { error: "sold_out" }],
  ["POST", "/orders", { item: 7 }, 400, { error: "invalid" }],
];

async function compare(answer: Answer): Promise<void> {
  for (const [method, path, body, status, member] of requests) {
    const given =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const answered = await answer(new Request(`http://localhost${path}`, { method, ...given }));
    expect([method, path, answered.status, await answered.json()]).toEqual([
      method,
      path,
      status,
      expect.objectContaining(member),
    ]);
  }
}

describe("from Hono", () => {
  const guide = openGuide("from-hono");
  it.each(["hono.ts", "usher.ts"])("%s answers as the other", async (file) => {
    const { app } = await guide.load<Fetching>(file);
    await compare((request) => app.fetch(request));
  });

  it("one hands the rest to the other", async () => {
    const { app } = await guide.load<Fetching>("both.ts");
    const statuses = ["/orders/1", "/v2/orders/1", "/nowhere"].map(async (path) => {
      const { status, headers } = await app.fetch(new Request(`http://localhost${path}`));
      return [status, headers.has("x-request-id")];
    });
    expect(await Promise.all(statuses)).toEqual([
      [200, false],
      [200, true],
      [404, true],
    ]);
  });
});

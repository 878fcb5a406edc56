/** What a project's server is asked, by its sample, and what it answers. */
import { expect } from "vitest";
import type { Sample } from "../../create-usher/src/choices.ts";

/** Sends a request to a server, or to a Worker. */
export type Ask = (target: string, init?: RequestInit) => Promise<Response>;

const json = (value: unknown): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});

async function answered(response: Promise<Response>): Promise<readonly [status: number, body: unknown]> {
  const { status, headers, ...rest } = await response.then(async (answer) => {
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  });
  const isJson = headers.get("content-type")?.startsWith("application/json") === true;
  return [status, isJson ? (JSON.parse(rest.text) as unknown) : rest.text];
}

const samples: { readonly [S in Sample]: (ask: Ask) => Promise<void> } = {
  async hello(ask) {
    expect(await answered(ask("/hello/Ada?language=de"))).toEqual([200, "Hallo, Ada."]);
    const message = "Hello, Ada. Your table has 2 seats.";
    expect(await answered(ask("/tables", json({ name: "Ada", people: 2 })))).toEqual([201, { message }]);
    const refused = await answered(ask("/tables", json({ name: "Ada", people: 9 })));
    expect(refused).toMatchObject([409, { error: "too_many" }]);
  },
  async api(ask) {
    const order = { item: "pen", quantity: 2 };
    const placed = await answered(ask("/orders", json(order)));
    expect(placed).toMatchObject([201, order]);
    expect(await answered(ask("/orders"))).toEqual([200, [placed[1]]]);
    const one = `/orders/${(placed[1] as { readonly id: number }).id}`;
    expect(await answered(ask(one))).toEqual([200, placed[1]]);
    const refused = await answered(ask("/orders", json({ item: "pen", quantity: 99 })));
    expect(refused).toMatchObject([409, { error: "sold_out" }]);
    expect(await answered(ask(one, { method: "DELETE" }))).toEqual([204, ""]);
    expect(await answered(ask(one))).toMatchObject([404, { error: "not_found" }]);
  },
  async live(ask) {
    const page = await ask("/");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
    const files = [...(await page.text()).matchAll(/<(?:link|script) [^>]*(?:href|src)="([^"]*)"/g)];
    // That policy allows files of the site alone, also for the icon.
    const types = { "/page.css": "text/css", "/icon.svg": "image/svg+xml", "/page.js": "text/javascript" };
    expect(files.map(([, url]) => url)).toEqual(Object.keys(types));
    for (const [url, type] of Object.entries(types)) {
      const file = await ask(url);
      expect([file.status, file.headers.get("content-type")]).toEqual([200, `${type}; charset=utf-8`]);
      await file.text();
    }
    const stream = await ask("/messages");
    expect(await answered(ask("/messages", json({ text: "one" })))).toMatchObject([201, { text: "one" }]);
    expect(await answered(ask("/messages", json({ text: "one" })))).toMatchObject([409, { error: "repeated" }]);
    let text = "";
    for await (const part of stream.body as ReadableStream<Uint8Array>) {
      text += new TextDecoder().decode(part);
      if (/^data: .*"text":"one"/m.test(text)) break;
    }
    expect(text).toMatch(/^event: newest$/m);
  },
};

/** Asks for all that a sample has, and for what every project has. */
export async function askAll(ask: Ask, sample: Sample): Promise<void> {
  await samples[sample](ask);
  if (sample !== "live") expect((await ask("/", { redirect: "manual" })).headers.get("location")).toBe("/docs");
  expect(await answered(ask("/livez"))).toEqual([200, "ok"]);
  expect(await answered(ask("/readyz"))).toEqual([200, "ok"]);
  const [status, docs] = await answered(ask("/docs"));
  expect([status, docs]).toEqual([200, expect.stringContaining("<title>my-")]);
  expect(await answered(ask("/openapi.json"))).toMatchObject([200, { openapi: expect.any(String) }]);
}

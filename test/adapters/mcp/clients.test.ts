/** The official clients with the orders example: that of 2026-07-28, and those of before, which get an error that names it. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Dep, Log, Sessions } from "usher-http";
import { Mcp } from "usher-http/mcp";
import { serve } from "usher-http/node";
import { afterAll, describe, expect, it } from "vitest";
import { sessionStore } from "../../../examples/orders/clerks.ts";
import { routes } from "../../../examples/orders/routes.ts";
import { memoryStore, store } from "../../../examples/orders/store.ts";
import { eventually } from "../../support/eventually.ts";

Log.setup({ level: undefined });
const tools = Mcp.routes(routes, { name: "orders", version: "1", instructions: "Look first." });
const orders = memoryStore();
const resources = [Dep.resource(store, orders), Dep.resource(sessionStore, Sessions.memory())];
const server = await serve([...routes, ...tools], { port: 0, resources });
afterAll(() => server.stop());

function followers(): number {
  return orders.news.subscribers("orders").length;
}

async function connected(headers: { readonly [name: string]: string } = {}) {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const url = new URL(`http://127.0.0.1:${server.port}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

describe("the official client", async () => {
  const client = await connected();
  afterAll(() => client.close());

  it("negotiates a version", () => {
    expect([client.getNegotiatedProtocolVersion(), client.getInstructions()]).toEqual(["2026-07-28", "Look first."]);
  });

  it("lists the tools, except those that only a clerk may call", async () => {
    const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
    const open = ["place_order", "list_orders", "follow_orders", "get_order", "change_order"];
    expect(await names(client)).toEqual(open);
    const clerk = await connected({ authorization: "Bearer demo" });
    expect(await names(clerk)).toEqual([...open, "remove_order"]);
    await clerk.close();
  });

  it("creates and lists orders, and gets refusals", async () => {
    const placed = await client.callTool({ name: "place_order", arguments: { item: "pen", quantity: 2 } });
    expect(placed.structuredContent).toMatchObject({ item: "pen", quantity: 2 });
    const listed = await client.callTool({ name: "list_orders", arguments: { per_page: 5 } });
    expect(listed.structuredContent).toMatchObject({ result: expect.arrayContaining([placed.structuredContent]) });
    const refused = await client.callTool({ name: "place_order", arguments: { item: "unicorn", quantity: 1 } });
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('"error":"sold_out"') }],
    });
    const invalid = await client.callTool({ name: "place_order", arguments: { item: "", quantity: 1 } });
    expect(JSON.parse((invalid.content[0] as { text: string }).text)).toMatchObject({
      error: "invalid",
      problems: [{ at: "item" }],
    });
  });

  it("follows orders by progress, until it cancels", async () => {
    const cancelling = new AbortController();
    const seen: (string | undefined)[] = [];
    const before = followers();
    const following = client.callTool(
      { name: "follow_orders", arguments: {} },
      {
        signal: cancelling.signal,
        onprogress: ({ message }) => {
          seen.push(message);
          cancelling.abort();
        },
      },
    );
    await expect(following).rejects.toThrow("abort");
    await eventually(() => expect(followers()).toBe(before));
    expect(JSON.parse(seen[0] ?? "")).toMatchObject({ event: "placed", data: { item: "pen" } });
  });
});

/** The error of a client that begins with `initialize`. */
async function errorOf(client: { connect: () => Promise<unknown> }): Promise<string> {
  return client.connect().then(
    () => "connected",
    (error: unknown) => String(error),
  );
}

describe("a client of before reports the version in its own error", () => {
  const url = new URL(`http://127.0.0.1:${server.port}/mcp`);
  it.each([
    [
      "@modelcontextprotocol/sdk 1",
      () => new OldClient({ name: "test", version: "1" }).connect(new OldTransport(url) as never),
    ],
    [
      "@modelcontextprotocol/client 2, unless it negotiates",
      () => new Client({ name: "test", version: "1" }).connect(new StreamableHTTPClientTransport(url)),
    ],
  ])("%s", async (_name, connect) => {
    expect(await errorOf({ connect })).toContain("this server supports the protocol version 2026-07-28");
  });
});

/** The inspector's command line with the orders example, over Streamable HTTP. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { Dep, Log, Sessions } from "usher-http";
import { Mcp } from "usher-http/mcp";
import { serve } from "usher-http/node";
import * as v from "valibot";
import { afterAll, describe, expect, it } from "vitest";
import { sessionStore } from "../../../examples/orders/clerks.ts";
import { routes } from "../../../examples/orders/routes.ts";
import { memoryStore, store } from "../../../examples/orders/store.ts";

// It looks for its own package.json in the folder where it is started.
const cwd = join(import.meta.dirname, "../../../node_modules/@modelcontextprotocol/inspector-cli/build");
Log.setup({ level: undefined });
const about = Mcp.prompt("check_stock", v.object({ item: v.string() }), ({ item }) => `Is there any ${item}?`);
const tools = Mcp.routes(routes, { name: "orders", version: "1", prompts: [about] });
const resources = [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())];
const server = await serve([...routes, ...tools], { port: 0, resources });
afterAll(() => server.stop());

/** Its output: JSON, or the text of an error. */
function inspect(...args: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
  const given = ["index.js", `http://127.0.0.1:${server.port}/mcp`, "--transport", "http", ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, given, { cwd }, (error, out, errors) => {
      resolve({ code: error === null ? 0 : Number(error.code), out: out + errors });
    });
  });
}

async function printed(...args: readonly string[]): Promise<unknown> {
  const { code, out } = await inspect(...args);
  expect([code, out]).toEqual([0, expect.stringMatching(/^\{/)]);
  return JSON.parse(out);
}

describe("the inspector's command line", () => {
  it("lists the tools, and those of a clerk", async () => {
    const [open, clerk] = await Promise.all([
      printed("--method", "tools/list"),
      printed("--method", "tools/list", "--header", "Authorization: Bearer demo"),
    ]);
    const names = ["place_order", "list_orders", "follow_orders", "get_order", "change_order"];
    const listed = (all: readonly string[]) => ({ tools: all.map((name) => expect.objectContaining({ name })) });
    expect([open, clerk]).toEqual([listed(names), listed([...names, "remove_order"])]);
  });

  it("creates an order, and reads refusals", async () => {
    const call = ["--method", "tools/call", "--tool-name"];
    const place = (...args: string[]) => printed(...call, "place_order", ...args.flatMap((arg) => ["--tool-arg", arg]));
    const [placed, soldOut, invalid, unknown] = await Promise.all([
      place("item=pen", "quantity=2"),
      place("item=unicorn", "quantity=1"),
      place("item=pen", "quantity=0"),
      inspect(...call, "drop_orders"),
    ]);
    expect(placed).toMatchObject({ structuredContent: { item: "pen", quantity: 2 } });
    const refused = (error: string) => ({ isError: true, content: [{ text: expect.stringContaining(error) }] });
    expect([soldOut, invalid]).toMatchObject([refused('"error":"sold_out"'), refused('"at":"quantity"')]);
    expect(unknown).toMatchObject({ code: 1, out: expect.stringContaining("drop_orders") });
    const { id } = (placed as { readonly structuredContent: { readonly id: string } }).structuredContent;
    const listed = await printed(...call, "list_orders", "--tool-arg", "per_page=5");
    expect(JSON.stringify(listed)).toContain(id);
  });

  it("lists and gets the prompts", async () => {
    const [all, one] = await Promise.all([
      printed("--method", "prompts/list"),
      printed("--method", "prompts/get", "--prompt-name", "check_stock", "--prompt-args", "item=pen"),
    ]);
    expect(all).toMatchObject({ prompts: [{ name: "check_stock" }] });
    expect(one).toMatchObject({ messages: [{ content: { text: "Is there any pen?" } }] });
  });
});

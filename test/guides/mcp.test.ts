/** The programs of the page on agents: an agent calls the tools of the first, and the last prints what it says. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it } from "vitest";
import { openGuide } from "./project.ts";

const guide = openGuide("mcp");
const [first = "", , , last = ""] = [...guide.text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => code);

it("an agent lists tools, calls them, and gets refusals", async () => {
  guide.write("orders.ts", first.replace("port: 8080", "port: 0"));
  const program = await guide.start("orders.ts", process.env);
  const agent = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await agent.connect(new StreamableHTTPClientTransport(new URL(`${program.url}/mcp`)));
  expect(agent.getInstructions()).toBe("Look at the orders before you place one.");
  expect((await agent.listTools()).tools.map(({ name }) => name)).toEqual(["list_orders", "place_order"]);
  const place = async (item: string) => agent.callTool({ name: "place_order", arguments: { item } });
  expect((await place("pen")).structuredContent).toEqual({ id: 1, item: "pen" });
  const text = '{"error":"sold_out","message":"There are no more."}';
  expect(await place("unicorn")).toMatchObject({ isError: true, content: [{ type: "text", text }] });
  await agent.close();
  expect(await program.stop()).toBe(0);
});

it("the test of the page prints the documented output", async () => {
  guide.write("agent.ts", last);
  const { stdout } = await promisify(execFile)(process.execPath, [guide.path("agent.ts")]);
  const said = [...last.matchAll(/\/\/ (.*)$/gm)].map(([, line]) => line);
  expect(stdout.trim().split("\n")).toEqual(said);
});

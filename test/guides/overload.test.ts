/** The page on overload: its program. */
import { expect, it } from "vitest";
import { openGuide } from "./project.ts";

const guide = openGuide("overload");

it("main.ts answers within its limits, and ends with SIGTERM", async () => {
  const server = await guide.start("main.ts", { PORT: "0" });
  expect(await (await fetch(`${server.url}/hello`)).text()).toBe("Hello.");
  expect((await fetch(`${server.url}/livez`)).status).toBe(200);
  expect(await server.stop()).toBe(0);
});

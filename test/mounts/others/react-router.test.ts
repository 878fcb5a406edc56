/** The request handler of React Router in a mount, as the guide has it. */
import { createRequestHandler } from "react-router";
import type { ServerBuild } from "react-router";
import { expect, it } from "vitest";
import { Path, Returns, Route, get } from "usher-http";
import { start } from "../../support/node-server.ts";

it("serves a page with its data, a form, an error, and next to it a route", async () => {
  const { build } = (await import(new URL("react-router-build.mjs", import.meta.url).href)) as { build: ServerBuild };
  const shop = createRequestHandler(build, "production");
  const { port } = await start([
    Route.mount(Path.of("shop"), (request) => shop(request)),
    get(Path.of("shop", "health"), { returns: Returns.text }, () => "well"),
  ]);
  const url = `http://127.0.0.1:${port}/shop`;

  const page = await fetch(`${url}/orders/7`);
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html"]);
  expect(await page.text()).toContain("<h1>Order 7: pen</h1>");

  const sent = await fetch(`${url}/orders/7`, {
    method: "POST",
    headers: { origin: `http://127.0.0.1:${port}` },
    body: new URLSearchParams({ item: "ink" }),
    redirect: "manual",
  });
  expect([sent.status, sent.headers.get("location")]).toEqual([302, "/shop/orders/7"]);
  expect(sent.headers.getSetCookie()).toEqual(["seen=1; Path=/"]);
  expect(await (await fetch(`${url}/orders/7`)).text()).toContain("<h1>Order 7: ink</h1>");

  const data = await fetch(`${url}/orders/7.data`);
  expect([data.status, await data.text()]).toEqual([200, expect.stringContaining('"ink"')]);

  const none = await fetch(`${url}/orders/8`);
  expect([none.status, await none.text()]).toEqual([404, expect.stringContaining("Nothing here.")]);
  expect(await (await fetch(`${url}/health`)).text()).toBe("well");
});

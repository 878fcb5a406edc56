/** The page on overload: its program. */
import { beforeAll, describe, expect, it } from "vitest";
import type { App } from "usher-http";
import { openGuide } from "./project.ts";

const guide = openGuide("overload");
let app: App;
beforeAll(async () => {
  ({ app } = await guide.load<{ app: App }>("main.ts"));
});

describe("a program with limits", () => {
  it("answers, and has their metrics", async () => {
    expect(await (await app.fetch(new Request("http://h/hello"))).text()).toBe("Hello.");
    const page = await (await app.fetch(new Request("http://h/metrics"))).text();
    for (const bound of ["maxInFlight", "maxEventLoopDelayMs"]) {
      expect(page).toContain(`framework_server_overload_refused_total{framework_overload_bound="${bound}"} 0`);
    }
  });
});

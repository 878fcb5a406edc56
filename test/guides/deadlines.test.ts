/** The page on deadlines: its program. */
import { beforeAll, describe, expect, it } from "vitest";
import type * as Usher from "usher-http";
import type { App, HttpClient as Clients } from "usher-http";
import { serverOfFile } from "../support/http-server.ts";
import { openGuide } from "./project.ts";

const guide = openGuide("deadlines");
guide.write("package.ts", 'export * from "usher-http";');

let made: App;
beforeAll(async () => {
  const { url: baseUrl } = await serverOfFile((request) => void request.resume());
  const { make } = await guide.load<{ make: (client: Clients, ms: number) => App }>("main.ts");
  const { HttpClient: Loaded } = await guide.load<typeof Usher>("package.ts");
  made = make(Loaded.make({ baseUrl }), 50);
});

describe("a service whose other server does not answer", () => {
  it("answers 503", async () => {
    const answer = await made.fetch(new Request("http://h/item"));
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([503, "timed_out"]);
  });

  it("answers another route, whose caller may have a shorter deadline", async () => {
    expect((await made.fetch(new Request("http://h/report"))).status).toBe(200);
    const headers = { "x-request-timeout-ms": "0" };
    expect((await made.fetch(new Request("http://h/report", { headers }))).status).toBe(503);
  });
});

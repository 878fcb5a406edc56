/** The pages on testing and on error tracking: their own tests pass, and the tracker gets what is thrown. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type * as Usher from "usher-http";
import { expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";
import { openGuide } from "./project.ts";

const tests = openGuide("testing");

it.each([
  ["Node 20", process.execPath, ["--test"]],
  ["Deno", runtimes.deno(), ["test", "-A", "--no-check"]],
])("the page's tests pass on %s", async (_, command, args) => {
  const { stdout } = await promisify(execFile)(command, [...args, tests.path("routes.test.ts")], { cwd: tests.folder });
  expect(stdout).toMatch(/^# fail 0$|\| 0 failed/m);
  expect(stdout).toMatch(/^# pass \d+$|\b4 passed/m);
});

it("a tracker receives an error with its message and the request's id", async () => {
  const guide = openGuide("error-tracking");
  guide.write("package.ts", 'export * from "usher-http";');
  const { Path, Refusal, Returns, Test, get, refuse } = await guide.load<typeof Usher>("package.ts");
  const { reportTo } = await guide.load<{ reportTo: (tracker: object) => Usher.OnError }>("errors.ts");
  const caught: unknown[] = [];
  const onError = reportTo({
    captureException: (error: Error, { tags }: { tags: object }) => caught.push([error.message, tags]),
  });
  const broken = get(Path.of("broken"), { returns: Returns.text }, () => {
    throw new Error("why");
  });
  const missing = get(Path.of("missing"), { returns: Returns.text, refuses: [Refusal.notFound] }, () =>
    refuse(Refusal.notFound),
  );
  const app = Test.app([broken, missing], { onError });
  await Test.call(app, "GET", "/missing");
  const { headers } = await Test.call(app, "GET", "/broken");
  const request = headers.get("x-request-id");
  expect(caught).toEqual([
    ["why", { request, route: "/broken", trace: expect.stringMatching(/^\w{32}$/), during: "answer" }],
  ]);
});

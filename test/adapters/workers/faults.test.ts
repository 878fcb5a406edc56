/** What goes wrong around a request, in workerd: releases, commits and tasks after the answer. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends, saidBy } from "../../inputs/scoped-ends.ts";
import { eventually } from "../../support/eventually.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { bundle, start } from "./running.ts";

const scoped = join(import.meta.dirname, "../../inputs/scoped-routes.ts");
const program = `import { Path, Returns, get, param, post } from "usher-http";
  import { worker } from "../../../adapters/workers/index.ts";
  import { begin, commit, events, routes, warnings } from ${JSON.stringify(scoped)};
  const path = Path.str("path");
  export default worker([
    ...routes,
    post(Path.of("-", "begin", path), { inputs: { path: param(path) }, returns: Returns.text }, ({ path }) => {
      begin(path);
      return "";
    }),
    post(Path.of("-", "commit"), { returns: Returns.text }, () => {
      commit.open();
      return "";
    }),
    get(Path.of("-", "seen"), { returns: Returns.text }, () => JSON.stringify([events, warnings()])),
  ]);`;

/** What a request is answered; "cut" where its connection ends before. */
async function answered(client: RawClient, target: string): Promise<string> {
  const body = await client
    .ask(target)
    .answer()
    .then(
      ({ body }) => body,
      () => "cut",
    );
  return saidBy(body);
}

it("a value that is acquired for a request is released, however the request ends", async () => {
  const { client } = await start(await bundle({ contents: program }));
  const control = await client();
  // workerd ends a stream that fails as if it were whole.
  const [, ...cut] = ends["cut"] ?? [];
  for (const [path, expected] of Object.entries({ ...ends, cut: ["part", ...cut] })) {
    await control.ask(`POST /-/begin/${path}`).answer();
    const answer = await answered(await client(), `${path === "cut" ? "POST" : "GET"} /${path}`);
    if (path === "commit") await control.ask("POST /-/commit").answer();
    await eventually(async () => {
      const seen = JSON.parse((await control.ask("GET /-/seen").answer()).body) as readonly unknown[];
      expect([path, answer, ...seen]).toEqual([path, ...expected]);
    });
  }
});

/** How a Worker writes its log lines: the runtime and its dashboard show each by the method of `console` that wrote it. */
import { expect, it } from "vitest";
import { bundle, start } from "./running.ts";

const program = `
import { Log, Path, Returns, get } from "usher-http";
import { worker } from "../../../adapters/workers/index.ts";

const written = [];
for (const method of ["debug", "info", "log", "warn", "error"]) {
  console[method] = (line) => written.push([method, JSON.parse(line).message]);
}
Log.setup({ level: "debug", format: "json" });
const shop = Log.source("shop");
const speak = get(Path.of("speak"), { returns: Returns.text }, () => {
  for (const level of ["debug", "info", "warn", "error"]) shop[level]("a " + level + " line");
  return "";
});
const said = get(Path.of("said"), { returns: Returns.response }, () => Response.json(written));

export default worker([speak, said]);`;

it("writes a line by the method of console that its level names", async () => {
  const client = await (await start(await bundle({ contents: program }))).client();
  await client.ask("GET /speak").answer();
  const lines: unknown = JSON.parse((await client.ask("GET /said").answer()).body);
  expect(lines).toEqual([
    ["debug", "a debug line"],
    ["info", "a info line"],
    ["warn", "a warn line"],
    ["error", "a error line"],
    ["info", "GET /speak 200"],
  ]);
});

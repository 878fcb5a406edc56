/** The program of the page on TanStack Query writes what its comments say. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { openGuide } from "./project.ts";

const guide = openGuide("tanstack-query");

it("the program writes what its comments say", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [guide.path("program.ts")], { cwd: guide.folder });
  expect(stdout).toBe(
    [
      "[ 'GET /orders/{order_id}', { path: { order_id: 2 } } ]",
      "ink",
      "[ 'pen', 'ink', 'cap' ]",
      "sold_out There are no unicorns left.",
      "",
    ].join("\n"),
  );
});

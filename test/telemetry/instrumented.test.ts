/** The real instrumentation of `node:http` by OpenTelemetry, next to the spans of an app. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it.each(["serve", "listener"])("a request has one server span with an instrumented node:http: %s", async (by) => {
  const program = join(import.meta.dirname, "instrumented-program.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [program, by]);
  const spans = JSON.parse(stdout) as readonly { readonly [name: string]: unknown }[];
  const root = spans.find(({ kind }) => kind === 1);
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  expect(spans).toHaveLength(2);
  expect(root).toMatchObject({
    name: "GET /orders/{id}",
    trace: traceId,
    parent: "00f067aa0ba902b7",
    route: "/orders/{id}",
  });
  expect(spans.find(({ name }) => name === "find")).toMatchObject({ kind: 0, trace: traceId, parent: root?.["id"] });
});

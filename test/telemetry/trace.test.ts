/**
 * The trace of a request in its log lines (contract 8; facts 11.3; rows TR-01 to TR-12, IN-34).
 * Tested elsewhere: spans, exporters and `tracestate` (TR-13 and later).
 */
import { describe, expect, it } from "vitest";
import { Log, Path, Returns, Test, get } from "usher-http";
import { lines } from "../support/logs.ts";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const parent = "00f067aa0ba902b7";
const route = get(Path.root, { returns: Returns.text }, () => (Log.source("shop").info("x"), ""));
const app = Test.app([route]);

/** The trace of a request, and its own span; every line of it has the same. */
async function traced(...headers: readonly string[]): Promise<{ readonly trace: unknown; readonly span: unknown }> {
  const before = lines().length;
  const { status } = await Test.call(app, "GET", "/", {
    headers: headers.map((line) => ["traceparent", line] as const),
  });
  expect(status).toBe(200);
  const [first, second] = lines().slice(before);
  expect([first?.["trace_id"], first?.["span_id"]]).toEqual([second?.["trace_id"], second?.["span_id"]]);
  return { trace: first?.["trace_id"], span: first?.["span_id"] };
}

describe("a valid traceparent is continued", () => {
  it.each([
    ["TR-01", `00-${trace}-${parent}-01`],
    ["TR-01", `00-${trace}-${parent}-00`],
    ["TR-01", `00-${trace}-${parent}-ff`],
    ["TR-01", `  00-${trace}-${parent}-01  `],
    ["TR-10", `cc-${trace}-${parent}-03-what-next`],
    ["TR-10", `01-${trace}-${parent}-01`],
    ["TR-10", `01-${trace}-${parent}-01-`],
  ])("%s %s", async (_id, line) => {
    const joined = await traced(line);
    expect(joined.trace).toBe(trace);
    expect(joined.span).toMatch(/^[0-9a-f]{16}$/);
    expect(joined.span).not.toBe(parent);
  });
});

describe("with any other, a new trace begins, and the request is answered as usual", () => {
  it.each([
    ["none", []],
    ["TR-03 upper-case hex", [`00-${trace.toUpperCase()}-${parent}-01`]],
    ["TR-03 upper-case hex", [`00-${trace}-${parent.toUpperCase()}-01`]],
    ["TR-04 an all-zero trace id", [`00-${"0".repeat(32)}-${parent}-01`]],
    ["TR an all-zero parent id", [`00-${trace}-${"0".repeat(16)}-01`]],
    ["TR-06 version ff", [`ff-${trace}-${parent}-01`]],
    ["TR-07 one digit short", [`00-${trace.slice(1)}-${parent}-01`]],
    ["TR-07 one digit short", [`00-${trace}-${parent.slice(1)}-01`]],
    ["TR-07 one digit short", [`00-${trace}-${parent}-1`]],
    ["TR one digit more", [`00-${trace}a-${parent}-01`]],
    ["TR-09 an underscore for a dash", [`00_${trace}-${parent}-01`]],
    ["TR-09 an underscore for a dash", [`00-${trace}-${parent}_01`]],
    ["TR version 00 with more behind it", [`00-${trace}-${parent}-01-more`]],
    ["TR a later version with more and no dash", [`01-${trace}-${parent}-01more`]],
    ["TR no hex", [`00-${trace.replace("4", "g")}-${parent}-01`]],
    ["TR nothing", [""]],
    ["TR-12 two of them", [`00-${trace}-${parent}-01`, `00-${trace}-${parent}-01`]],
    ["TR two in one line", [`00-${trace}-${parent}-01, 00-${trace}-${parent}-01`]],
  ])("%s", async (_what, headers) => {
    const fresh = await traced(...headers);
    expect(fresh.trace).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    expect(fresh.trace).not.toBe(trace);
    expect(fresh.span).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
  });
});

it("IN-34 every request has an id, a trace and a span of its own", async () => {
  const count = 2000;
  const ids: unknown[] = [];
  for (let i = 0; i < count; i++) ids.push((await Test.call(app, "GET", "/")).headers.get("x-request-id"));
  for (const id of ids) expect(id).toMatch(/^[0-9abcdefghjkmnpqrstvwxyz]{12}$/);
  expect(new Set(ids).size).toBe(count);
  for (const member of ["trace_id", "span_id"]) expect(new Set(lines().map((line) => line[member])).size).toBe(count);
});

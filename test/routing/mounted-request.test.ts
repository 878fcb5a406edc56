/** The signal of a mount's request follows its client from when it is used: that may have left before. */
import { expect, it } from "vitest";
import { mountRequest } from "../../src/routing/mounted-request.ts";

const left = new DOMException("left", "AbortError");

it.each([
  ["before it is used", true],
  ["after it is used", false],
])("aborts for the handler, and for what it fetches by it, where the client leaves %s", async (_when, isBefore) => {
  const client = new AbortController();
  const { request, follow } = mountRequest({
    url: "http://127.0.0.1:9/",
    method: "GET",
    headers: [],
    leavesOut: () => false,
    body: undefined,
    signals: () => [undefined, client.signal],
  });
  if (isBefore) client.abort(left);
  follow();
  client.abort(left);
  expect([request.signal.aborted, request.signal.reason]).toEqual([true, left]);
  await expect(fetch(request)).rejects.toBe(left);
});

/** `Headers` are read by what costs each runtime the least, with the same result. */
import { afterEach, expect, it, vi } from "vitest";
import { App, Answer, Path, Returns, Route, get } from "usher-http";
import { fieldsOf } from "../../src/http/fields.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const lines: [string, string][] = [
  ["x-b", "2"],
  ["set-cookie", "a=1"],
  ["X-A", "1"],
  ["set-cookie", "b=2"],
  ["x-b", "3"],
];

it("gives on Deno what the iterator gives, without it", async () => {
  const expected = [...new Headers(lines)];
  const iterated = vi.spyOn(Headers.prototype, Symbol.iterator);
  vi.stubGlobal("Deno", {});
  expect([...fieldsOf(new Headers(lines))]).toEqual(expected);
  const headers: [string, string][] = [["x-a", "1"]];
  const app = App.make([
    Route.mount(Path.of("mount"), (request) => new Response(request.headers.get("x-sent"), { headers: lines })),
    get(Path.of("pass"), { returns: Returns.response }, () => Answer.pass(new Response("", { headers: lines }))),
    get(Path.of("bare"), { returns: Returns.response }, () => new Response("", { headers })),
  ]);
  for (const path of ["pass", "bare", "mount"]) {
    const answer = await app.fetch(new Request(`http://h/${path}`, { headers: { "x-sent": "text" } }));
    expect(answer.headers.get("x-a")).toBe("1");
    expect(answer.headers.getSetCookie()).toEqual(path === "bare" ? [] : ["a=1", "b=2"]);
    // The platform may make the `Request` of a mount by it.
    if (path !== "mount") expect(iterated).not.toHaveBeenCalled();
  }
});

/** A text of a path that other routers read as a parameter is refused where the path is made, unless `Path.s` says that it is meant. */
import { describe, expect, it } from "vitest";
import { Path, Returns, Test, get } from "usher-http";
import { saidBy } from "../package/wrong-arguments/rule.ts";

const text = { returns: Returns.text };
const of = Path.of as (...segments: readonly unknown[]) => Path.Path<never>;
const getAny = get as (path: unknown, declaration: object, handler: () => string) => unknown;

describe("a text that other routers read as a parameter", () => {
  const refused: readonly (readonly [text: string, write: string])[] = [
    [":id", 'Path.str("id")'],
    [":id?", 'Path.str("id")'],
    [":", 'Path.str("name")'],
    ["*", 'Path.rest("name")'],
    ["**", 'Path.rest("name")'],
    ["*path", 'Path.rest("path")'],
    ["{id}", 'Path.str("id")'],
    ["{id*}", 'Path.rest("id")'],
    ["{}", 'Path.str("name")'],
    ["[id]", 'Path.str("id")'],
    ["[...rest]", 'Path.rest("rest")'],
    ["<id>", 'Path.str("id")'],
    ["<int:id>", 'Path.str("id")'],
    [":a\nb", 'Path.str("b")'],
  ];
  it.each(refused)("%j is refused", async (segment, write) => {
    const said = await saidBy(() => of("b", segment), []);
    const quoted = JSON.stringify(segment);
    expect(said).toBe(
      `Path.of: ${quoted} is a text: write ${write} for a parameter, or Path.s(${quoted}) for the text`,
    );
  });

  it.each(refused)("%j is matched where Path.s says that it is meant", async (segment) => {
    const app = Test.app([get(Path.of("b", Path.s(segment)), text, () => "found")]);
    const found = await Test.call(app, "GET", `/b/${encodeURIComponent(segment)}`);
    expect([found.status, found.body]).toEqual([200, "found"]);
    expect((await Test.call(app, "GET", "/b/5")).status).toBe(404);
    expect(Path.url(Path.of("b", Path.s(segment)), {})).toMatchObject({ ok: true });
  });

  it.each(["a:b", "a*", "id}", "{id", "[", "]id[", "<", "a>", "$id", "@me", "~ada", "a{b}", ".well-known", ""])(
    "%j is a literal segment",
    (segment) => expect(of("b", segment).segments).toEqual(["b", segment]),
  );
});

describe("a path that is a text", () => {
  it.each([
    ["/a/:id", 'Path.of("a", Path.str("id"))'],
    ["/", "Path.root"],
    ["", "Path.root"],
    ["a/b/", 'Path.of("a", "b")'],
    ["/files/*", 'Path.of("files", Path.rest("name"))'],
    ["/{shop}/orders/{order_id}", 'Path.of(Path.str("shop"), "orders", Path.str("order_id"))'],
  ])("%j is refused, with what to write", async (path, write) => {
    const said = await saidBy(() => getAny(path, text, () => ""), []);
    expect(said).toBe(`a route of GET: its path is a text: write ${write}, with Path from usher-http`);
  });
});

/** Mistakes in groups: `App.make` reports those of a route with its name, and `Route.group` those of its options. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { App, Codec, Dep, Path, Query, Returns, Route, get, json, param } from "usher-http";
import "../support/logs.ts";

const accountId = Path.int("account_id");
const Order = v.object({ item: v.string() });
const page = Query.default("page", Codec.int, 1);
const accounts = Route.group({ prefix: Path.of("accounts", accountId), inputs: { clerk: Dep.return("kim") } });
const plain = get(Path.of("plain"), { returns: Returns.text }, () => "plain");

describe("mistakes that App.make refuses", () => {
  const text = { returns: Returns.text };
  const other = Path.str("account_id");
  const clash = { inputs: { clerk: page } } as object;
  const rest = Path.rest("rest");
  const rows: readonly (readonly [string, readonly Route[], readonly string[]])[] = [
    [
      "a name that the group and the route have",
      [accounts.get(Path.of("a"), { ...text, ...clash }, () => "")],
      [
        "GET /accounts/{account_id}/a has the input clerk twice, of its own and of its group: give one of them another name",
      ],
    ],
    [
      "a name that the group and a route of its list have",
      Route.group({ inputs: { page } }, [get(Path.of("a"), { inputs: { page }, ...text }, () => "")]),
      ["GET /a has the input page twice, of its own and of its group: give one of them another name"],
    ],
    [
      "a name that two groups have, and a parameter that both have",
      [accounts.group({ prefix: Path.of(accountId), ...clash }).get(Path.of("a"), text, () => "")],
      [
        "GET /accounts/{account_id}/{account_id}/a names the parameter account_id twice",
        "GET /accounts/{account_id}/{account_id}/a has the input clerk twice, of its own and of its group: give one of them another name",
      ],
    ],
    [
      "a parameter of the prefix that the path has too",
      [accounts.get(Path.of(other), text, () => "")],
      ["GET /accounts/{account_id}/{account_id} names the parameter account_id twice"],
    ],
    [
      "another parameter of the prefix's name",
      [accounts.get(Path.of("a"), { inputs: { a: param(other) as never }, ...text }, () => "")],
      [
        "GET /accounts/{account_id}/a reads the path parameter account_id (string), and its path has another of that name (integer): make it once, and use that one in both",
      ],
    ],
    [
      "a rest in the prefix",
      Route.group({ prefix: Path.of(rest) }, [plain]),
      ["GET /{rest*}/plain has the rest of its path, rest, before its end, where nothing after it could be matched"],
    ],
    [
      "two that could answer one URL",
      [...Route.group({ prefix: Path.of("v1") }, [plain]), get(Path.of("v1", "plain"), text, () => "")],
      ["GET /v1/plain and GET /v1/plain could both answer one URL: list it once"],
    ],
    [
      "two bodies",
      [
        Route.group({ inputs: { order: json(Order) } }).post(
          Path.of("a"),
          { inputs: { b: json(Order) }, ...text },
          () => "",
        ),
      ],
      [
        "POST /a reads its body by 2 json inputs, where a body is read one way: make one json of the whole shape, and take its parts by Dep.map",
      ],
    ],
  ];
  it.each(rows)("%s", (_what, routes, problems) => {
    const made = () => App.make(routes);
    expect(made).toThrow(expect.objectContaining({ problems }) as Error);
  });
});

describe("options that Route.group refuses", () => {
  const rows: readonly (readonly [unknown, string])[] = [
    [
      { inputs: { a: page }, dependencies: [] },
      "dependencies is none of its options: prefix, inputs, refuses, tags, meta",
    ],
    [{ prefix: "/v1" }, "prefix is a string, and not made by Path.of"],
    [{ inputs: [page] }, "inputs is a list, and not an object"],
    [{ refuses: "gone" }, "refuses is a string, and not a list of codes of Refusal.code"],
    [{ tags: "Orders" }, "tags is a string, and not a list of texts"],
    [{ meta: {} }, "meta is another object, and not made from Meta.empty"],
  ];
  it.each(rows)("%j", (options, problem) => {
    expect(() => Route.group(options as object)).toThrow(new TypeError(`Route.group: ${problem}`));
    expect(() => accounts.group(options as object, [plain])).toThrow(new TypeError(`Route.group: ${problem}`));
  });

  it("a list that is not an array, or has an item that is not a route", () => {
    expect(() => Route.group({}, undefined as never)).toThrow(
      "Route.group: its routes is undefined, and not a list of routes",
    );
    const nested = [plain, Route.group({}, [plain])] as never;
    expect(() => Route.group({}, nested)).toThrow("Route.group: the route 1 of its list is a list, and not a route");
  });

  it("a mistake in a route is left to App.make, which names the route", () => {
    const wrong = { inputs: 5, refuses: "no", tags: [1], meta: undefined, returns: Returns.text } as never;
    const made = () => App.make([accounts.get(Path.of("a"), wrong, 7 as never)]);
    const at = "GET /accounts/{account_id}/a:";
    expect(made).toThrow(`${at} refuses is a string`);
    expect(made).toThrow(`${at} inputs is a number`);
    expect(made).toThrow(`${at} its handler is a number`);
    const guards = Route.group({ inputs: { clerk: 5 as never }, refuses: [7 as never] });
    expect(() => App.make([guards.get(Path.of("a"), { returns: Returns.text }, () => "")])).toThrow(
      "GET /a: the input clerk is a number, and not an input",
    );
  });
});

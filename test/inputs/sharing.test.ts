/** A dependency runs once per request, for any number of uses (contract 4.4, rule 5; rows IN-19 to IN-24). */
import { describe, expect, it } from "vitest";
import { Codec, Dep, Path, Query, Refusal, Returns, Test, body, get, post, refuse } from "usher-http";
import type { Inputs } from "usher-http";
import { invalid } from "../support/refusals.ts";
import "../support/logs.ts";

const denied = Refusal.code("denied", { status: 403, doc: "No." });

/** A dependency whose value is the number of its runs. */
function counted(): { readonly dep: Dep<number, never, unknown>; readonly runs: () => number } {
  let runs = 0;
  return { dep: Dep.join({}, () => ++runs), runs: () => runs };
}

async function asked(
  inputs: Inputs,
  sent = "ab",
  search = "",
): Promise<{ readonly status: number; readonly body: string }> {
  const told = post(Path.of("shared"), { inputs, returns: Returns.text }, (values) => Object.values(values).join(" "));
  return Test.call(Test.app([told]), "POST", `/shared${search}`, { body: sent });
}

describe("one dependency in several places: requests", () => {
  it("IN-19 is shared by every use, and runs again in each request", async () => {
    const { dep, runs } = counted();
    const inputs = {
      dep,
      again: dep,
      map: Dep.map(dep, (n) => n * 10),
      join: Dep.join({ dep }, ({ dep }) => dep * 100),
      all: Dep.map(Dep.all({ dep }), ({ dep }) => dep),
    };
    const told = get(Path.root, { inputs, returns: Returns.text }, (values) => Object.values(values).join(" "));
    const app = Test.app([told]);
    expect((await Test.call(app, "GET", "/")).body).toBe("1 1 10 100 1");
    expect((await Test.call(app, "GET", "/")).body).toBe("2 2 20 200 2");
    expect(runs()).toBe(2);
  });

  it("IN-19 is shared while it is pending", async () => {
    let runs = 0;
    const slow = Dep.join({}, async () => ++runs);
    const { body } = await asked({
      one: Dep.map(slow, String),
      two: Dep.join({ slow }, async ({ slow }) => slow),
      three: slow,
    });
    expect([body, runs]).toEqual(["1 1 1", 1]);
  });

  it("IN-19 is not shared by two concurrent requests", async () => {
    const { dep } = counted();
    let letGo = (): void => {};
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const slow = Dep.join({ dep }, async ({ dep }) => (await gate, dep));
    const told = get(Path.root, { inputs: { slow, dep }, returns: Returns.text }, ({ slow, dep }) => `${slow} ${dep}`);
    const app = Test.app([told]);
    const both = [Test.call(app, "GET", "/"), Test.call(app, "GET", "/")];
    letGo();
    expect((await Promise.all(both)).map(({ body }) => body)).toEqual(["1 1", "2 2"]);
  });

  it("a function that makes it and is called twice makes two", async () => {
    let runs = 0;
    const make = () => Dep.join({}, () => ++runs);
    expect((await asked({ one: make(), two: make() })).body).toBe("1 2");
  });
});

describe("one dependency in several places: uses", () => {
  it("IN-21 a body dependency is parsed once", async () => {
    let parsed = 0;
    const upper = Dep.map(body, (bytes) => (parsed++, new TextDecoder().decode(bytes).toUpperCase()));
    const inputs = { one: upper, two: Dep.map(upper, String), three: Dep.join({ upper }, ({ upper }) => upper) };
    expect((await asked(inputs)).body).toBe("AB AB AB");
    expect(parsed).toBe(1);
  });

  it("IN-22 an input is read once if it is used directly and through Dep.map", async () => {
    const page = Query.required("page", Codec.int);
    const inputs = { page, next: Dep.map(page, (page) => page + 1) };
    expect((await asked(inputs, "", "?page=1")).body).toBe("1 2");
    expect((await asked(inputs, "", "?page=x")).body).toBe(
      invalid(["query.page", "malformed", "This is not a whole number."]),
    );
  });

  it("a failure is shared too: a dependency that throws, refuses or has a problem runs once", async () => {
    const outcomes = [
      () => Dep.problem({ at: "query.x", code: "odd", message: "This is odd." }),
      () => refuse(denied),
      async () => Dep.problem({ at: "query.x", code: "odd", message: "This is odd." }),
      async (): Promise<never> => {
        throw new Error("no");
      },
    ];
    for (const [i, outcome] of outcomes.entries()) {
      let runs = 0;
      const dep = Dep.join({}, () => (runs++, outcome()), { refuses: [denied] });
      const { status } = await asked({
        dep,
        map: Dep.map(dep, String),
        late: Dep.bind(Dep.return(1), () => dep),
        again: Dep.credential("basic", dep),
      });
      expect([i, status, runs]).toEqual([i, [400, 403, 400, 500][i], 1]);
    }
  });

  it("the value undefined is shared too", async () => {
    let runs = 0;
    const nothing = Dep.join({}, () => void runs++);
    expect((await asked({ one: Dep.map(nothing, String), two: Dep.map(nothing, String), three: nothing })).body).toBe(
      "undefined undefined ",
    );
    expect(runs).toBe(1);
  });
});

describe("Dep.uncached", () => {
  it("runs at every use, and its own dependencies still run once", async () => {
    const { dep, runs } = counted();
    let made = 0;
    const fresh = Dep.uncached(Dep.map(dep, (n) => `${n}:${++made}`));
    expect(
      (await asked({ one: fresh, two: Dep.map(fresh, String), three: Dep.join({ fresh }, ({ fresh }) => fresh) })).body,
    ).toBe("1:1 1:2 1:3");
    expect(runs()).toBe(1);
  });

  it("does not change the dependency it is made from", async () => {
    const { dep } = counted();
    expect((await asked({ dep, fresh: Dep.uncached(dep), again: dep })).body).toBe("1 2 1");
  });

  it("has its problem reported once", async () => {
    const page = Dep.uncached(Query.required("page", Codec.int));
    const { body } = await asked({ page, again: Dep.map(page, String) });
    expect(body).toBe(invalid(["query.page", "required", "This is required."]));
  });

  it("runs at every use of an input that runs at every use, behind Dep.bind too", async () => {
    const { dep } = counted();
    const fresh = Dep.uncached(Dep.map(Dep.uncached(dep), (n) => n * 10));
    const late = () => Dep.bind(Dep.return(1), () => fresh);
    expect((await asked({ one: late(), two: late(), three: fresh })).body).toBe("10 20 30");
  });

  it("runs once at a use that waits for the body", async () => {
    const { dep, runs } = counted();
    const both = Dep.join({ fresh: Dep.uncached(dep), body }, ({ fresh, body }) => `${fresh}:${body.length}`);
    expect((await asked({ late: Dep.bind(Dep.return(1), () => both) })).body).toBe("1:2");
    expect(runs()).toBe(1);
  });

  it("runs at every use behind Dep.bind too", async () => {
    const { dep } = counted();
    const fresh = Dep.uncached(dep);
    const late = () => Dep.bind(Dep.return(1), () => fresh);
    expect((await asked({ one: late(), two: late(), three: fresh })).body).toBe("1 2 3");
  });
});

describe("constants, resources and records", () => {
  it("Dep.return is the given value, also undefined or a function", async () => {
    const given = { f: () => "f" };
    const inputs = {
      given: Dep.map(Dep.return(given), (value) => value === given),
      none: Dep.map(Dep.return(undefined), String),
    };
    expect((await asked(inputs)).body).toBe("true undefined");
  });

  it("a resource is the same object in every route and request", async () => {
    const store = Dep.ofResource<{ count: number }>("store");
    const held = { count: 0 };
    const told = get(
      Path.root,
      { inputs: { store, through: Dep.map(store, (store) => store === held) }, returns: Returns.text },
      ({ store, through }) => `${++store.count} ${through}`,
    );
    const app = Test.app([told], { resources: [Dep.resource(store, held)] });
    expect((await Test.call(app, "GET", "/")).body).toBe("1 true");
    expect((await Test.call(app, "GET", "/")).body).toBe("2 true");
  });

  it("Dep.all is a record of the values of its inputs", async () => {
    const all = Dep.all({
      page: Query.default("page", Codec.int, 1),
      deep: Dep.all({ q: Query.optional("q", Codec.string) }),
    });
    expect((await asked({ all: Dep.map(all, (value) => JSON.stringify(value)) }, "", "?q=x")).body).toBe(
      '{"page":1,"deep":{"q":"x"}}',
    );
    expect((await asked({ all: Dep.map(Dep.all({}), (value) => JSON.stringify(value)) })).body).toBe("{}");
  });
});

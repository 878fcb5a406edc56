/** Middleware (facts 14; rows MW), and the codes of an app. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  Answer,
  App,
  Cookie,
  Codec,
  Event,
  Path,
  Refusal,
  Returns,
  Socket,
  Test,
  addHeader,
  answer,
  get,
  json,
  param,
  post,
  put,
  refuse,
  setCookie,
} from "usher-http";
import type { AppOptions, Middleware } from "usher-http";
import { lines, logged, messages } from "../support/logs.ts";
import { internal, notFound } from "../support/refusals.ts";

const name = Path.str("name");
const hello = get(Path.of("hello", name), { inputs: { name: param(name) }, returns: Returns.text }, ({ name }) => name);
const limited = get(Path.of("limited"), { returns: Returns.text }, () => "limited");
const teapot = Refusal.code("teapot", { status: 418, doc: "It is a teapot." });

const call = (middleware: readonly Middleware[], target = "/limited", method = "GET", options: AppOptions = {}) =>
  Test.call(Test.app([hello, limited], { middleware, ...options }), method, target);
const passing: Middleware = (_request, next) => next();

describe("middleware: order", () => {
  it("MW-01 runs in the listed order, the first outermost", async () => {
    const told: string[] = [];
    const named =
      (name: string): Middleware =>
      async (_request, next) => {
        told.push(`${name} in`);
        const answer = await next();
        told.push(`${name} out`);
        return answer;
      };
    const seen = get(Path.of("seen"), { returns: Returns.text }, () => {
      told.push("handler");
      return "";
    });
    await Test.call(Test.app([seen], { middleware: [named("a"), named("b")] }), "GET", "/seen");
    expect(told).toEqual(["a in", "b in", "handler", "b out", "a out"]);
  });

  it.each([
    [
      "at once",
      () => {
        throw new Error("a secret");
      },
    ],
    [
      "later",
      async () => {
        throw new Error("a secret");
      },
    ],
    [
      "after what is inside",
      async (_request, next) => {
        await next();
        throw new Error("a secret");
      },
    ],
  ] satisfies readonly (readonly [string, Middleware])[])("MW-03 that throws %s is a 500", async (_when, raises) => {
    const statuses: number[] = [];
    const watching: Middleware = async (_request, next) => {
      const answer = await next();
      statuses.push(answer.status);
      return answer;
    };
    const { status, body } = await call([watching, raises]);
    expect([status, body]).toEqual([500, internal]);
    expect(statuses).toEqual([500]);
    expect(logged().join()).not.toContain("a secret");
    expect(lines().find((line) => line["error.kind"] === "Error")).toBeDefined();
  });

  it("MW-03 sees an error of the handler as a 500", async () => {
    const raises = get(Path.root, { returns: Returns.text }, () => {
      throw new Error("a secret");
    });
    let status = 0;
    const watching: Middleware = async (_request, next) => {
      const answer = await next();
      status = answer.status;
      return answer;
    };
    expect((await Test.call(Test.app([raises], { middleware: [watching] }), "GET", "/")).body).toBe(internal);
    expect(status).toBe(500);
  });

  it("MW-03 a refusal that it throws is the answer", async () => {
    const throwing: Middleware = () => {
      throw refuse(Refusal.notFound);
    };
    expect(await call([throwing])).toMatchObject({ status: 404, body: notFound });
  });
});

describe("middleware: its arguments", () => {
  it.each([
    ["GET", "/hello/kim", "/hello/{name}"],
    ["HEAD", "/hello/kim", "/hello/{name}"],
    ["GET", "/limited", "/limited"],
    ["POST", "/limited", undefined],
    ["GET", "/limited/", undefined],
    ["GET", "/about", undefined],
    ["PROPFIND", "/limited", undefined],
  ])("MW-04 %s %s sees the route %s, once", async (method, target, pattern) => {
    const seen: unknown[] = [];
    const watching: Middleware = (request, next) => {
      seen.push(request.route?.pattern, request.method, request.path, request.id.length, request.header("host"));
      return next();
    };
    await call([watching], target, method, { trailingSlash: "redirect" });
    expect(seen).toEqual([pattern, method, target, 12, "localhost"]);
  });

  it("MW-05, MW-06 can change every kind of answer", async () => {
    const marking: Middleware = async (_request, next) => {
      const answer = await next();
      return { ...answer, headers: [...answer.headers, ["x-kind", "all"]] };
    };
    for (const [method, target] of [
      ["GET", "/limited"],
      ["GET", "/nowhere"],
      ["POST", "/limited"],
      ["OPTIONS", "/limited"],
    ] as const) {
      expect((await call([marking], target, method)).headers.get("x-kind")).toBe("all");
    }
  });

  it("MW sees the headers that the handler set, which are sent once", async () => {
    const k = Cookie.named("k", Codec.string);
    const setting = get(
      Path.root,
      { inputs: { addHeader, setCookie }, returns: Returns.text },
      ({ addHeader, setCookie }) => {
        addHeader("x-mine", "1");
        setCookie(Cookie.make(k, "v"));
        return "";
      },
    );
    let seen: unknown;
    const watching: Middleware = async (_request, next) => {
      const answer = await next();
      seen = [answer.headers, answer.cookies.length];
      return answer;
    };
    const { headers } = await Test.call(Test.app([setting], { middleware: [watching] }), "GET", "/");
    expect(seen).toEqual([[["x-mine", "1"]], 1]);
    expect([headers.get("x-mine"), headers.getSetCookie()]).toEqual(["1", ["k=v; Path=/; HttpOnly; SameSite=Lax"]]);
  });
});

describe("middleware: answers of its own", () => {
  it("MW answers instead of a route, which then does not run", async () => {
    let ran = 0;
    const counting = post(Path.root, { inputs: { body: json(v.string()) }, returns: Returns.text }, () => `${++ran}`);
    const closed: Middleware = () => Answer.make("closed", { status: 503 });
    const { status, body } = await Test.call(Test.app([counting], { middleware: [closed] }), "POST", "/", {
      body: "x",
    });
    expect([status, body, ran]).toEqual([503, "closed", 0]);
    const platform: Middleware = () => new Response("platform", { status: 202 });
    expect(await Test.call(Test.app([counting], { middleware: [platform] }), "POST", "/")).toMatchObject({
      status: 202,
      body: "platform",
    });
  });

  it("MW may answer with a status that the route does not declare", async () => {
    const listed = put(Path.root, { returns: Returns.jsonResponse(v.string(), { 201: "Made." }) }, () =>
      answer(201, "x"),
    );
    const cached: Middleware = async (_request, next) => {
      await next();
      return Answer.empty({ status: 304 });
    };
    expect((await Test.call(Test.app([listed], { middleware: [cached] }), "PUT", "/")).status).toBe(304);
    const stray = put(Path.root, { returns: Returns.jsonResponse(v.string(), { 201: "Made." }) }, () =>
      answer(202 as 201, "x"),
    );
    await expect(Test.call(Test.app([stray], { middleware: [passing] }), "PUT", "/")).rejects.toThrow(
      "PUT / answered 202, which its Returns does not list",
    );
  });

  it("MW-07 refuses with a code that the app declares, and with no other code", async () => {
    const refusing: Middleware = () => Answer.refusal(refuse(teapot));
    expect((await call([refusing], "/limited", "GET", { codes: [teapot] })).status).toBe(418);
    await expect(call([refusing])).rejects.toThrow(
      "GET /limited refused with teapot, which nothing declares: list it in the option codes",
    );
    const after: Middleware = async (_request, next) => {
      await next();
      return Answer.refusal(refuse(teapot));
    };
    expect((await call([after], "/limited", "GET", { codes: [teapot] })).status).toBe(418);
    await expect(call([after])).rejects.toThrow("teapot, which nothing declares");
  });

  it("MW-07 adds no declaration to the route", async () => {
    const stray = get(Path.root, { returns: Returns.text }, () => refuse(teapot) as never);
    const app = Test.app([stray], { middleware: [passing], codes: [teapot] });
    await expect(Test.call(app, "GET", "/")).rejects.toThrow(
      "GET / refused with teapot, which nothing declares: list it in refuses",
    );
  });
});

describe("middleware: next and the log", () => {
  it("MW-09 there is one access line, about the answer that was sent", async () => {
    await call(
      [
        async (_request, next) => {
          await next();
          return Answer.make("", { status: 503 });
        },
      ],
      "/hello/kim",
    );
    expect(messages("info")).toEqual(["GET /hello/kim 503"]);
  });

  it("MW sees the refusal of the cross-origin check", async () => {
    const statuses: number[] = [];
    const watching: Middleware = async (_request, next) => {
      const answer = await next();
      statuses.push(answer.status);
      return answer;
    };
    const app = Test.app([limited], { middleware: [watching] });
    await Test.call(app, "POST", "/nowhere", { headers: { origin: "https://evil.example" } });
    expect(statuses).toEqual([403]);
  });

  it("MW calls next once", async () => {
    let ran = 0;
    const counting = get(Path.root, { returns: Returns.text }, () => `${++ran}`);
    const twice: Middleware = async (_request, next) => {
      await next();
      return next();
    };
    expect((await Test.call(Test.app([counting], { middleware: [twice] }), "GET", "/")).status).toBe(500);
    expect(ran).toBe(1);
  });

  it("MW a value that is not an answer is a 500", async () => {
    expect((await call([() => undefined as never])).status).toBe(500);
    expect((await call([async (_request, next) => ({ ...(await next()), headers: [["x", "a\r\nb"]] })])).status).toBe(
      500,
    );
  });
});

describe("middleware: streams", () => {
  it("MW a stream whose answer middleware replaces is cancelled", async () => {
    let cancelled = false;
    const streaming = get(Path.root, { returns: Returns.response }, () =>
      Answer.stream(
        new ReadableStream({
          cancel: () => {
            cancelled = true;
          },
        }),
      ),
    );
    const instead: Middleware = async (_request, next) => {
      await next();
      return Answer.make("instead");
    };
    expect((await Test.call(Test.app([streaming], { middleware: [instead] }), "GET", "/")).body).toBe("instead");
    expect(cancelled).toBe(true);
  });

  it("MW may answer before next() resolves, and the late answer is cancelled", async () => {
    let cancelled = false;
    let go: () => void = () => {};
    const slow = get(Path.root, { returns: Returns.response }, async () => {
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      return Answer.stream(
        new ReadableStream({
          cancel: () => {
            cancelled = true;
          },
        }),
      );
    });
    let late: Promise<unknown> | undefined;
    const impatient: Middleware = (_request, next) => {
      late = next();
      return Answer.make("", { status: 503 });
    };
    expect((await Test.call(Test.app([slow], { middleware: [impatient] }), "GET", "/")).status).toBe(503);
    go();
    await late;
    expect(cancelled).toBe(true);
    expect(messages("info")).toEqual(["GET / 503"]);
  });

  it("MW may answer before next() resolves; headers that the handler then sets change nothing and are logged", async () => {
    let open: () => void = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const slow = get(Path.root, { inputs: { addHeader }, returns: Returns.text }, async ({ addHeader }) => {
      await opened;
      addHeader("x-late", "1");
      return "late";
    });
    let late: Promise<unknown> | undefined;
    const impatient: Middleware = (_request, next) => {
      late = next();
      return Answer.make("", { status: 503 });
    };
    expect((await Test.call(Test.app([slow], { middleware: [impatient] }), "GET", "/")).status).toBe(503);
    open();
    expect(await late).toMatchObject({ body: "late", headers: [] });
    expect(messages("warn")).toEqual(["/ set a cookie or a header after its answer had gone, which changed nothing"]);
  });
});

describe("middleware: sockets and fetch", () => {
  it("MW works for app.fetch, also for bodies", async () => {
    const echo = post(Path.root, { inputs: { said: json(v.string()) }, returns: Returns.text }, ({ said }) => said);
    const { fetch } = App.make([echo], { middleware: [passing, passing] });
    const request = new Request("http://h/", {
      method: "POST",
      body: '"hi"',
      headers: { "content-type": "application/json" },
    });
    expect(await (await fetch(request)).text()).toBe("hi");
  });

  it("MW may omit the type of a text, and app.fetch adds none", async () => {
    const untyped: Middleware = async (_request, next) => {
      const { contentType: _type, ...answered } = await next();
      return answered;
    };
    const { fetch } = App.make([limited], { middleware: [untyped] });
    const response = await fetch(new Request("http://h/limited"));
    expect([response.headers.get("content-type"), await response.text()]).toEqual([null, "limited"]);
  });

  it("MW wraps WebSockets and event streams, which then run on without it", async () => {
    const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
    const echo = get(Path.of("echo"), { returns: Returns.websocket(texts) }, () => async (socket) => {
      for await (const text of socket) await socket.send(text);
    });
    const Tick = Event.text("tick");
    const ticks = get(Path.of("ticks"), { returns: Returns.events([Tick]) }, () => async (send) => {
      await send(Event.make(Tick, "1"));
      await send(Event.make(Tick, "2"));
    });
    const statuses: number[] = [];
    const watching: Middleware = async (_request, next) => {
      const answer = await next();
      statuses.push(answer.status);
      return answer;
    };
    const app = Test.app([echo, ticks], { middleware: [watching] });
    const said = await Test.websocket(app, texts, "/echo", async (socket) => {
      await socket.send("hi");
      return socket.receive();
    });
    expect(said).toEqual({ ok: true, value: { ok: true, value: "hi" } });
    const heard: string[] = [];
    await Test.events(app, "/ticks", ({ data }) => void heard.push(data));
    expect(heard).toEqual(["1", "2"]);
    expect(statuses).toEqual([101, 200]);
  });
});

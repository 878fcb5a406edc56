/** Responses of HTTP/2 to a slow client, or while the server stops. */
import { once } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Answer, Codec, Cookie, Event, Path, Returns, Route, get } from "usher-http";
import type { Server } from "usher-http/node";
import { eventually } from "../../support/eventually.ts";
import { gate } from "../../support/gate.ts";
import { FrameClient, http2Ask, http2Client, requestBlock } from "../../support/http2-client.ts";
import { messages } from "../../support/logs.ts";
import { holdClock, start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";

const inText = { returns: Returns.text };
/** END_STREAM and END_HEADERS. */
const wholeRequest = 5;

afterEach(() => void vi.restoreAllMocks());

describe("http2: a response to a slow client", () => {
  it("is sent whole when each chunk is read in time, however long all of them take", async () => {
    const parts = 8;
    const window = 16_384;
    holdClock();
    const route = get(Path.of("large"), inText, () => "x".repeat(parts * window));
    const { port } = await start([route], { http2: true, sendTimeoutMs: 1000 });
    const client = await FrameClient.to(port, Buffer.from([0, 4, 0, 0, 0x40, 0]));
    client.write("headers", wholeRequest, 1, requestBlock("/large"));
    for (let i = 1; i <= parts; i++) {
      await eventually(() => expect(client.bytes).toBe(i * window));
      // The client does not read, and more than half of the time limit passes.
      vi.advanceTimersByTime(600);
      client.write("window", 0, 1, Buffer.from([0, 0, 0x40, 0]));
      client.write("window", 0, 0, Buffer.from([0, 0, 0x40, 0]));
    }
    await eventually(() => expect(client.endsStream).toBe(true));
    expect(messages("info").join()).not.toContain("stopped reading");
  });
});

describe("http2: a header of the application", () => {
  it.each([
    ["x-blanks", " \tb c\t ", "b c"],
    ["x-none", " ", ""],
    ["proxy-connection", "keep-alive", undefined],
    ["http2-settings", "AAMAAABk", undefined],
  ])(
    "that has another form in HTTP/2, or none at all, does not break the response: %s",
    async (name, value, expected) => {
      const answered = get(Path.of("x"), { returns: Returns.response }, () =>
        Answer.make("x", { headers: [[name, value]] }),
      );
      const session = await http2Client((await start([answered], { http2: true })).url);
      const { status, headers, body } = await http2Ask(session, { ":path": "/x" });
      expect([status, headers[name], body]).toEqual([200, expected, "x"]);
    },
  );
});

describe("http2: a head", () => {
  /** Its longest value, with the framework's own fields. */
  const longest = 65_200;
  const headers: { readonly [kind: string]: () => Headers } = {
    "one header": () => new Headers({ "x-long": "a".repeat(longest + 400) }),
    "many cookies": () => {
      const fields = new Headers();
      for (let n = 0; n < 3000; n++) fields.append("set-cookie", `c${n}=${n}`);
      return fields;
    },
  };

  it.each(Object.keys(headers))(
    "past 64 KiB is a 500 whose line says so, and its session answers: %s",
    async (kind) => {
      const returns = Returns.response;
      const routes = [
        Route.mount(Path.of("mount"), () => new Response("long", { headers: (headers[kind] as () => Headers)() })),
        get(Path.of("pass"), { returns }, () =>
          Answer.pass(new Response("long", { headers: (headers[kind] as () => Headers)() })),
        ),
        get(Path.of("make"), { returns }, () => Answer.make("long", { headers: [["x-long", "a".repeat(1 << 20)]] })),
        get(Path.of("short"), inText, () => "short"),
      ];
      const session = await http2Client((await start(routes, { http2: true })).url);
      for (const path of ["/mount", "/pass", "/make"]) {
        expect((await http2Ask(session, { ":path": path })).status).toBe(500);
        expect(messages("error").at(-1)).toContain("headers of more than 65472 bytes");
      }
      expect(messages("info").filter((line) => String(line).endsWith(" 500"))).toHaveLength(3);
      expect((await http2Ask(session, { ":path": "/short" })).body).toBe("short");
    },
  );

  it("of that length is sent", async () => {
    const long = get(Path.of("long"), { returns: Returns.response }, () =>
      Answer.make("long", { headers: [["x-long", "a".repeat(longest)]] }),
    );
    const options = { settings: { maxHeaderListSize: 1 << 20 } };
    const session = await http2Client((await start([long], { http2: true })).url, options);
    const answer = await http2Ask(session, { ":path": "/long" });
    expect([answer.status, answer.headers["x-long"]]).toEqual([200, "a".repeat(longest)]);
  });
});

describe("http2: a header that occurs twice in an answer", () => {
  it.each([
    ["content-language", "en, de"],
    ["x-content-type-options", "nosniff, nosniff"],
  ])("is sent although Node treats it as a single value: %s", async (name, expected) => {
    const headers = expected.split(", ").map((value) => [name, value] as const);
    const cookies = ["a", "b"].map((cookie) => Cookie.make(Cookie.named(cookie, Codec.string), "1"));
    const answered = get(Path.of("x"), { returns: Returns.response }, () => Answer.make("x", { headers, cookies }));
    const session = await http2Client((await start([answered], { http2: true })).url);
    const { status, headers: head, raw, body } = await http2Ask(session, { ":path": "/x" });
    const values = raw.filter((_, i) => raw[i - 1] === name);
    expect([status, values.join(", "), head["set-cookie"]?.length, body]).toEqual([200, expected, 2, "x"]);
  });
});

describe("http2: a web page", () => {
  it("may have more concurrent event streams on its connection than the six of HTTP/1.1", async () => {
    const opened = gate();
    let count = 0;
    const feed = get(Path.of("feed"), { returns: Returns.events([]) }, () => async (send) => {
      if (++count === 20) opened.open();
      await opened.passed;
      await send(Event.comment("all"));
    });
    const session = await http2Client((await start([feed], { http2: true })).url);
    const answers = Array.from({ length: 20 }, () => http2Ask(session, { ":path": "/feed" }));
    for (const { body } of await Promise.all(answers)) expect(body).toContain("all");
  });
});

describe("http2: a server that stops", () => {
  it("sends every response of a connection, not only the first", async () => {
    const [first, second, reached] = [gate(), gate(), gate()];
    const held = (name: string, until: { readonly passed: Promise<unknown> }) =>
      get(Path.of(name), inText, async () => {
        if (name === "second") reached.open();
        await until.passed;
        return name;
      });
    const server = await start([held("first", first), held("second", second)], { http2: true, drainMs: 60_000 });
    const session = await http2Client(server.url);
    const answers = ["first", "second"].map((name) => http2Ask(session, { ":path": `/${name}` }));
    await reached.passed;
    const goaway = once(session, "goaway");
    const stopped = server.stop();
    await goaway;
    first.open();
    expect((await answers[0])?.body).toBe("first");
    // A connection that ended would have closed by now.
    await new Promise((resolve) => setTimeout(resolve, 20));
    second.open();
    expect((await answers[1])?.body).toBe("second");
    expect(await stopped).toBe(0);
  });

  it.each(["HTTP/1.1", "HTTP/2"])(
    "leaves no timer of an event stream that began during the stop: %s",
    async (version) => {
      const keepAliveMs = 54_321;
      const set = vi.spyOn(globalThis, "setTimeout");
      const cleared = vi.spyOn(globalThis, "clearTimeout");
      const feed = get(Path.of("feed"), { returns: Returns.events([], { keepAliveMs }) }, () => async (send) => {
        void server.stop();
        while ((await send(Event.comment("x"))).ok);
        await new Promise(() => {});
      });
      const server: Server = await start([feed], { http2: true });
      if (version === "HTTP/2") {
        const stream = (await http2Client(server.url)).request({ ":path": "/feed" }).on("error", () => {});
        await new Promise((resolve) => stream.resume().once("close", resolve));
      } else {
        const client = await RawClient.to(server.port);
        await client.ask("GET /feed").closed();
      }
      const timers = set.mock.calls.flatMap(([, ms], i) => (ms === keepAliveMs ? [set.mock.results[i]?.value] : []));
      expect(timers).toHaveLength(1);
      await eventually(() => expect(cleared.mock.calls.flat()).toContain(timers[0]));
    },
  );
});

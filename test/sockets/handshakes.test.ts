/** The handshake of a WebSocket (RFC 6455 §4; rows WS). */
import * as v from "valibot";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  Answer,
  App,
  Header,
  Codec,
  Path,
  Refusal,
  RefusalFormat,
  Returns,
  Socket,
  Test,
  addHeader,
  get,
  post,
  refuse,
} from "usher-http";
import { lines } from "../support/logs.ts";
import { invalid } from "../support/refusals.ts";

const Line = v.object({ text: v.string() });
const echoing = Socket.protocol({ client: Socket.json(Line), server: Socket.json(Line) });
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const echo = get(Path.of("echo"), { returns: Returns.websocket(echoing) }, () => async (socket) => {
  for await (const line of socket) await socket.send(line);
});

const opening = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};
const upgradeRequired = (message: string) => JSON.stringify({ error: "upgrade_required", message });

afterEach(() => vi.useRealTimers());

const named = get(
  Path.of("named"),
  { returns: Returns.websocket(Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: "chat" })) },
  () => async () => {},
);
const app = Test.app([echo, named]);
const call = async (target: string, headers: Record<string, string>, method = "GET") => {
  const { status, body, headers: answered } = await Test.call(app, method, target, { headers });
  return [status, body, answered.get("upgrade"), answered.get("sec-websocket-version")];
};
const otherwise = (over: Record<string, string>) => ({ ...opening, ...over });

describe("a handshake: refused by 426", () => {
  it("WS-01 opens the socket if it is correct", async () => {
    expect((await call("/echo", opening))[0]).toBe(101);
  });

  it.each([
    ["not asked for", {}],
    ["for another protocol", otherwise({ upgrade: "h2c" })],
  ])("%s is a 426", async (_id, headers) => {
    const sentence = "This address opens a WebSocket, and nothing else.";
    expect(await call("/echo", headers)).toEqual([426, upgradeRequired(sentence), "websocket", null]);
  });

  it("with HEAD is a 426", async () => {
    expect((await call("/echo", opening, "HEAD"))[0]).toBe(426);
  });

  it.each([
    ["an app's format", { refusalFormat: RefusalFormat.problemDetails({ statuses: { upgrade_required: 400 } }) }],
    [
      "middleware",
      { middleware: [async (_: unknown, next: () => Promise<Answer>) => ({ ...(await next()), status: 400 })] },
    ],
  ])("has the status of %s, and still names the protocol", async (_, options) => {
    const { status, body, headers } = await Test.call(Test.app([echo], options), "GET", "/echo");
    expect([status, JSON.parse(body).error, headers.get("upgrade")]).toEqual([400, "upgrade_required", "websocket"]);
  });

  it("on a connection that cannot upgrade is a 426", async () => {
    const answer = await App.make([echo]).fetch(new Request("http://localhost/echo"));
    expect(answer.status).toBe(426);
  });

  it.each(["8", "", "013", "13, 13"])("WS-03 with version %j is a 426", async (version) => {
    const sentence = "This server speaks version 13 of WebSockets.";
    expect(await call("/echo", otherwise({ "sec-websocket-version": version }))).toEqual([
      426,
      upgradeRequired(sentence),
      "websocket",
      "13",
    ]);
  });
});

describe("a handshake: refused by 400", () => {
  it.each(["c2hvcnQ=", "", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZR==", "dGhlIHNhbXBsZSBub25jZSE="])(
    "WS-04 with the key %j is a 400",
    async (key) => {
      const { status, body } = await Test.call(app, "GET", "/echo", {
        headers: otherwise({ "sec-websocket-key": key }),
      });
      expect([status, body]).toEqual([
        400,
        invalid(["header.sec-websocket-key", "malformed", "This is not a WebSocket key."]),
      ]);
    },
  );

  it("WS-07 is read case-insensitively, as lists", async () => {
    const headers = otherwise({ upgrade: "h2c, WebSocket", connection: "keep-alive, Upgrade" });
    expect((await call("/echo", headers))[0]).toBe(101);
  });

  it("WS-09, WS-10 is answered with the subprotocol of the socket", async () => {
    expect((await call("/named", otherwise({ "sec-websocket-protocol": "other, chat" })))[0]).toBe(101);
    const lists = [
      ...Object.entries(opening),
      ["sec-websocket-protocol", "other"] as const,
      ["sec-websocket-protocol", "chat"] as const,
    ] as const;
    expect((await Test.call(app, "GET", "/named", { headers: lists })).status).toBe(101);
    const missing = invalid([
      "header.sec-websocket-protocol",
      "required",
      "This socket speaks chat, which was not offered.",
    ]);
    expect((await call("/named", opening)).slice(0, 2)).toEqual([400, missing]);
    expect((await call("/named", otherwise({ "sec-websocket-protocol": "Chat" })))[0]).toBe(400);
  });

  it("reports all its problems at once", async () => {
    const headers = otherwise({ connection: "close", "sec-websocket-key": "x" });
    expect((await call("/named", headers)).slice(0, 2)).toEqual([
      400,
      invalid(
        ["header.connection", "required", "A WebSocket is opened with Connection: upgrade."],
        ["header.sec-websocket-key", "malformed", "This is not a WebSocket key."],
        ["header.sec-websocket-protocol", "required", "This socket speaks chat, which was not offered."],
      ),
    ]);
  });

  it("is checked before the route's inputs", async () => {
    const needy = get(
      Path.of("needy"),
      { inputs: { n: Header.required("x-n", Codec.int) }, returns: Returns.websocket(texts) },
      () => async () => {},
    );
    expect((await Test.call(Test.app([needy]), "GET", "/needy")).status).toBe(426);
    const { body } = await Test.call(Test.app([needy]), "GET", "/needy", { headers: opening });
    expect(body).toBe(invalid(["header.x-n", "required", "This is required."]));
  });
});

describe("a handshake: declarations", () => {
  it("is on a GET route only", () => {
    const route = post(Path.of("p"), { returns: Returns.websocket(texts) }, () => async () => {});
    expect(() => App.make([route])).toThrow("POST /p opens a WebSocket, which a GET alone does (RFC 6455 §4.1)");
  });

  it("WS-14 may be refused by the handler before the socket is open", async () => {
    const forbidden = Refusal.code("forbidden", { status: 403, doc: "No." });
    const closed = get(Path.of("closed"), { returns: Returns.websocket(texts), refuses: [forbidden] }, () =>
      refuse(forbidden, "Not today."),
    );
    const opened = await Test.websocket(Test.app([closed]), texts, "/closed", async () => {});
    expect(opened).toMatchObject({ ok: false, error: { status: 403 } });
  });

  it.each([
    [{ keepAliveMs: 0 }, "keepAliveMs cannot be 0"],
    [{ keepAliveMs: 2 ** 31 }, "keepAliveMs cannot be 2147483648"],
    [{ maxMessage: 0 }, "maxMessage cannot be 0"],
    [{ maxUnheard: 0.5 }, "maxUnheard cannot be 0.5"],
  ])("has limits greater than zero: %j is refused", (options, why) => {
    expect(() => Returns.websocket(texts, options)).toThrow(why);
  });

  it("has a valid name as its subprotocol", () => {
    expect(() => Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: "a b" })).toThrow(
      'Socket.protocol: "a b" is not a valid subprotocol name',
    );
  });
});

describe("the headers of the answer to a handshake", () => {
  const names = ["Sec-WebSocket-Accept", "sec-websocket-extensions", "sec-websocket-protocol"];

  it.each(names)("cannot be set by the application in a WebSocket: %s", async (name) => {
    const route = get(Path.of("s"), { inputs: { addHeader }, returns: Returns.websocket(texts) }, ({ addHeader }) => {
      addHeader(name, "x");
      return async () => {};
    });
    const { status } = await Test.call(Test.app([route]), "GET", "/s", { headers: opening });
    expect(status).toBe(500);
    expect(lines().map(({ message }) => message)).toContain(
      `GET /s: internal: a header only the framework writes: ${JSON.stringify(name)}`,
    );
  });

  it("can be set by the application in a takeover, which may open a WebSocket of its own", async () => {
    const headers = names.map((name) => [name, "x"] as const);
    const route = get(Path.of("s"), { returns: Returns.response }, () => ({
      ...Answer.takeover("websocket", async () => {}),
      headers,
    }));
    const answered = await Test.call(Test.app([route]), "GET", "/s", { headers: opening });
    expect([answered.status, answered.headers.get("sec-websocket-accept")]).toEqual([101, "x"]);
  });
});

describe("a WebSocket with several subprotocols", () => {
  it.each<[what: string, subprotocol: unknown, sentence: string]>([
    ["a name that is none", ["a", "b c"], 'Socket.protocol: "b c" is not a valid subprotocol name'],
    ["an empty name", [""], 'Socket.protocol: "" is not a valid subprotocol name'],
    ["a name twice", ["a", "b", "a"], "Socket.protocol: subprotocol lists a twice"],
    ["no text", [7], "Socket.protocol: subprotocol is a number, and not a text"],
    ["null", null, "Socket.protocol: subprotocol is null, and not a text"],
    ["an empty list", [], "Socket.protocol: subprotocol is an empty list"],
  ])("WS-52 does not accept %s in its list of subprotocols", (_what, subprotocol, sentence) => {
    expect(() =>
      Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: subprotocol as "a" }),
    ).toThrow(sentence);
  });

  it("WS-53 both ends get the chosen subprotocol, with its type", async () => {
    const texts = { client: Socket.text, server: Socket.text };
    const several = Socket.protocol({ ...texts, subprotocol: ["v2", "v1"] });
    const orNone = Socket.protocol({ ...texts, subprotocol: ["v1", undefined] });
    const none = Socket.protocol(texts);
    const seen: (string | undefined)[] = [];
    const app = Test.app([
      get(Path.of("several"), { returns: Returns.websocket(several) }, () => async ({ subprotocol }) => {
        subprotocol satisfies "v2" | "v1";
        seen.push(subprotocol);
      }),
      get(Path.of("or-none"), { returns: Returns.websocket(orNone) }, () => async ({ subprotocol }) => {
        subprotocol satisfies "v1" | undefined;
        seen.push(subprotocol);
      }),
      get(Path.of("none"), { returns: Returns.websocket(none) }, () => async ({ subprotocol }) => {
        subprotocol satisfies undefined;
        seen.push(subprotocol);
      }),
    ]);
    const offering = (name: string) => ({ headers: { "sec-websocket-protocol": name } });
    const ends = [
      await Test.websocket(app, several, "/several", async (socket) => socket.subprotocol),
      await Test.websocket(app, several, "/several", async (socket) => socket.subprotocol, offering("v1")),
      await Test.websocket(app, orNone, "/or-none", async (socket) => socket.subprotocol),
      await Test.websocket(app, orNone, "/or-none", async (socket) => socket.subprotocol, offering("v9")),
      await Test.websocket(app, none, "/none", async (socket) => socket.subprotocol, offering("v9")),
    ];
    const expected = ["v2", "v1", "v1", undefined, undefined];
    expect(ends).toEqual(expected.map((value) => ({ ok: true, value })));
    expect(seen).toEqual(expected);
  });

  it("WS-54 chooses from a very long list without a delay", async () => {
    const several = Socket.protocol({
      client: Socket.text,
      server: Socket.text,
      subprotocol: Array.from({ length: 1000 }, (_, i) => `v${i}`),
    });
    const app = Test.app([get(Path.of("a"), { returns: Returns.websocket(several) }, () => async () => {})]);
    const headers = { "sec-websocket-protocol": `${Array.from({ length: 100_000 }, (_, i) => `x${i}`).join()},v999` };
    const chosen = await Test.websocket(app, several, "/a", async (socket) => socket.subprotocol, { headers });
    expect(chosen).toEqual({ ok: true, value: "v999" });
  });
});

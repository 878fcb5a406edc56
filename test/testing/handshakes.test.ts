/** WebSockets and takeovers in a test answer as they do on a connection (rows TC, WS). */
import { describe, expect, it } from "vitest";
import {
  Answer,
  Codec,
  Cookie,
  Dep,
  Event,
  Header,
  Path,
  Query,
  Refusal,
  Returns,
  Socket,
  Test,
  clientGone,
  get,
  post,
  refuse,
  setCookie,
} from "usher-http";
import type { SocketEnd } from "usher-http";
import { gate } from "../support/gate.ts";
import "../support/logs.ts";

const spoken = Socket.protocol({ client: Socket.text, server: Socket.text });
const handshake = {
  upgrade: "websocket",
  connection: "Upgrade",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};
const offer = { upgrade: "lines", connection: "upgrade" };
const takeover = () => Answer.takeover("lines", async () => {});
const lines = get(Path.of("lines"), { returns: Returns.response }, takeover);
const posted = post(Path.of("lines"), { returns: Returns.response }, takeover);
const quiet = get(Path.of("socket"), { returns: Returns.websocket(spoken) }, () => async () => {});

describe("Test.call with an upgrade", () => {
  it.each([
    ["GET", "/socket", handshake, undefined, 101],
    ["GET", "/socket", handshake, "", 101],
    ["GET", "/socket", handshake, "a body", 426],
    ["GET", "/lines", offer, undefined, 101],
    ["HEAD", "/lines", offer, undefined, 101],
    ["GET", "/lines", offer, "a body", 500],
    ["POST", "/lines", offer, undefined, 500],
  ])("is answered as by a server: %s %s %o %s", async (method, target, headers, body, status) => {
    const app = Test.app([quiet, lines, posted], { onError: () => {} });
    const options = body === undefined ? { headers } : { headers, body };
    expect((await Test.call(app, method, target, options)).status).toBe(status);
  });

  it("releases what it acquired, as no protocol follows the 101", async () => {
    const ends: string[] = [];
    const held = Dep.scoped(
      {},
      () => "held",
      (_, end) => void ends.push(end.how),
    );
    const inputs = { held };
    const app = Test.app([
      get(Path.of("socket"), { inputs, returns: Returns.websocket(spoken) }, () => async () => {}),
      get(Path.of("lines"), { inputs, returns: Returns.response }, takeover),
    ]);
    await Test.call(app, "GET", "/socket", { headers: handshake });
    await Test.call(app, "GET", "/lines", { headers: offer });
    expect(ends).toEqual(["client gone", "client gone"]);
  });
});

it("Test.websocket ends a send that waits for its peer when the client is gone", async () => {
  const [gone, over] = [new AbortController(), gate()];
  // It reads nothing.
  const deaf = get(Path.of("socket"), { returns: Returns.websocket(spoken) }, () => () => over.passed);
  const ended = await Test.websocket(
    Test.app([deaf]),
    spoken,
    "/socket",
    async (socket) => {
      for (;;) {
        const sending = socket.send("x".repeat(65_536));
        const soon = await Promise.race([sending, new Promise<void>((resolve) => setTimeout(resolve, 20))]);
        if (soon === undefined) gone.abort();
        const sent = await sending;
        if (sent.ok) continue;
        over.open();
        return sent.error.kind;
      }
    },
    { gone: gone.signal },
  );
  expect(ended).toEqual({ ok: true, value: "lost" });
});

it("Test.websocket resolves after the values of a refused handshake are released", async () => {
  const noted: string[] = [];
  const held = Dep.scoped(
    {},
    () => "held",
    async (_, { how }) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      noted.push(how);
    },
  );
  const inputs = { held };
  const full = () => refuse(Refusal.busy);
  const app = Test.app([get(Path.of("socket"), { inputs, returns: Returns.websocket(spoken) }, full)]);
  const opened = await Test.websocket(app, spoken, "/socket", async () => {});
  expect([opened, noted]).toEqual([{ ok: false, error: expect.objectContaining({ status: 503 }) }, ["refused"]]);
});

describe("a browser of a test", () => {
  const visits = Cookie.named("visits", Codec.int);
  const inputs = { setCookie, n: Query.required("n", Codec.int) };
  const kind = Event.text("kind");

  it("keeps the cookies of an event stream, and of a WebSocket", async () => {
    const browser = Test.browser(
      Test.app([
        get(Path.of("feed"), { inputs, returns: Returns.events([kind]) }, ({ n, setCookie }) => {
          setCookie(Cookie.make(visits, n));
          return async (send) => void (await send(Event.make(kind, "one")));
        }),
        get(Path.of("socket"), { inputs, returns: Returns.websocket(spoken) }, ({ n, setCookie }) => {
          setCookie(Cookie.make(visits, n));
          return async () => {};
        }),
      ]),
    );
    await browser.events("/feed?n=1", () => expect([...browser.cookies()]).toEqual([["visits", "1"]]));
    await browser.websocket(spoken, "/socket?n=2", async () => {
      expect([...browser.cookies()]).toEqual([["visits", "2"]]);
    });
    expect([...browser.cookies()]).toEqual([["visits", "2"]]);
  });
});

it("a handshake has each line of a header, and the browser's cookies in addition to its own", async () => {
  const [kept, own] = [Cookie.named("kept", Codec.string), Cookie.named("own", Codec.string)];
  const inputs = { tags: Header.list("x-tag", Codec.string), kept: Cookie.optional(kept), own: Cookie.optional(own) };
  const routes = [
    get(Path.of("set"), { inputs: { setCookie }, returns: Returns.text }, ({ setCookie }) => {
      setCookie(Cookie.make(kept, "1"));
      return "";
    }),
    get(Path.of("socket"), { inputs, returns: Returns.websocket(spoken) }, ({ tags, kept, own }) => async (socket) => {
      await socket.send([...tags, kept, own].join());
    }),
  ];
  const browser = Test.browser(Test.app(routes));
  await browser.call("GET", "/set");
  const headers = [
    ["x-tag", "a"],
    ["X-Tag", "b"],
    ["cookie", "own=2"],
  ] as const;
  const said = await browser.websocket(spoken, "/socket", (socket) => socket.receive(), { headers });
  expect(said).toEqual({ ok: true, value: { ok: true, value: "a,b,1,2" } });
});

describe("a WebSocket whose client disconnects", () => {
  it.each(["before it opens", "while both wait"])("%s is lost for both sides, as after a reset", async (when) => {
    const going = new AbortController();
    const ends: SocketEnd[] = [];
    const socket = get(Path.of("socket"), { returns: Returns.websocket(spoken) }, () => async (socket) => {
      const received = await socket.receive();
      if (!received.ok) ends.push(received.error);
    });
    if (when === "before it opens") going.abort();
    const talk = async (socket: Socket<string, string>) => {
      going.abort();
      return socket.receive();
    };
    const talked = await Test.websocket(Test.app([socket]), spoken, "/socket", talk, { gone: going.signal });
    const lost: SocketEnd = { kind: "lost", detail: "the connection ended without a close" };
    expect([talked, ends]).toEqual([{ ok: true, value: { ok: false, error: lost } }, [lost]]);
  });

  it("closes it: clientGone aborts, as on a connection", async () => {
    const route = get(
      Path.of("waits"),
      { inputs: { clientGone }, returns: Returns.websocket(spoken) },
      ({ clientGone }) => {
        return async () => {
          if (!clientGone.aborted) await new Promise((resolve) => clientGone.addEventListener("abort", resolve));
        };
      },
    );
    const talked = await Test.websocket(Test.app([route]), spoken, "/waits", async (socket) => {
      await socket.close();
      return "closed";
    });
    expect(talked).toEqual({ ok: true, value: "closed" });
  }, 5000);
});

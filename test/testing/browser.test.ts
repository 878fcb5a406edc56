/** A browser in a test: it keeps cookies by name, path and age (rows TC). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  Answer,
  Codec,
  Cookie,
  Dep,
  Event,
  Path,
  Refusal,
  Returns,
  Sessions,
  Socket,
  Test,
  get,
  param,
  post,
  refuse,
  request,
  setCookie,
} from "usher-http";
import "../support/logs.ts";

const sent = get(
  Path.of("sent", Path.rest("rest")),
  { inputs: { request }, returns: Returns.text },
  ({ request }) => request.header("cookie") ?? "none",
);
const seat = Cookie.named("seat", Codec.string);
const game = Path.int("game");
const plays = post(
  Path.of("sent", "games", game),
  { inputs: { game: param(game), setCookie }, returns: Returns.empty() },
  ({ game, setCookie }) =>
    setCookie(Cookie.make(seat, `at ${game}`.replace(" ", "-"), { path: `/sent/games/${game}`, maxAgeMs: 60_000 })),
);
const many = post(Path.of("many"), { inputs: { setCookie }, returns: Returns.empty() }, ({ setCookie }) => {
  setCookie(Cookie.make(Cookie.named("a", Codec.int), 1));
  setCookie(Cookie.make(Cookie.named("b", Codec.int), 2, { path: "/sent/deep" }));
  setCookie(Cookie.make(Cookie.named("a", Codec.int), 3));
});
const begin = new Date("2026-11-21T12:00:00.000Z");
const after = (seconds: number) => new Date(begin.getTime() + seconds * 1000);

describe("a browser of a test", () => {
  it("TC-03 signs in, reads and signs out, and has no cookie then", async () => {
    const sessions = Sessions.make({
      store: Sessions.memory(),
      shape: v.string(),
      idleMs: 60_000,
      absoluteMs: 60_000,
    });
    const out = Refusal.code("out", { status: 401, doc: "Nobody.", challenge: "Test" });
    const who = Dep.join({ session: sessions.optional }, ({ session }) => session ?? refuse(out), { refuses: [out] });
    const me = Path.of("me");
    const browser = Test.browser(
      Test.app([
        post(me, { inputs: { setCookie }, returns: Returns.empty() }, async ({ setCookie }) => {
          await sessions.start(setCookie, "kim");
        }),
        get(me, { inputs: { who }, returns: Returns.text }, ({ who }) => who.data),
        post(Path.of("out"), { inputs: { who, setCookie }, returns: Returns.empty() }, ({ who, setCookie }) =>
          who.close(setCookie),
        ),
      ]),
    );
    expect((await browser.call("GET", "/me")).status).toBe(401);
    await browser.call("POST", "/me");
    expect([...browser.cookies().keys()]).toEqual(["session"]);
    expect((await browser.call("GET", "/me")).body).toBe("kim");
    await browser.call("POST", "/out");
    expect(browser.cookies().size).toBe(0);
    expect((await browser.call("GET", "/me")).status).toBe(401);
  });

  it("TC-04 sends a cookie to its path, and until it expires", async () => {
    const browser = Test.browser(Test.app([sent, plays]));
    await browser.call("POST", "/sent/games/1", { now: begin });
    const told = async (target: string, seconds = 0) =>
      (await browser.call("GET", target, { now: after(seconds) })).body;
    expect(await told("/sent/games/1/seat")).toBe("seat=at-1");
    expect(await told("/sent/games/1/seat?x=/")).toBe("seat=at-1");
    expect(await told("/sent/games/2/seat")).toBe("none");
    expect(await told("/sent/games/12/seat")).toBe("none");
    expect(await told("/sent/games/1/seat", 59)).toBe("seat=at-1");
    expect(await told("/sent/games/1/seat", 60)).toBe("none");
    expect(browser.cookies().size).toBe(0);
  });

  it("TC keeps the last cookie of a name and path, sends the longest path first, and adds those of the call", async () => {
    const browser = Test.browser(Test.app([sent, many]));
    await browser.call("POST", "/many");
    expect([...browser.cookies()]).toEqual([
      ["b", "2"],
      ["a", "3"],
    ]);
    expect((await browser.call("GET", "/sent/deep/er")).body).toBe("b=2; a=3");
    expect((await browser.call("GET", "/sent/x", { headers: { cookie: "own=1" } })).body).toBe("own=1, a=3");
  });

  it("TC uses the app's clock, if it has one", async () => {
    let now = begin;
    const browser = Test.browser(Test.app([sent, plays], { now: () => now }));
    await browser.call("POST", "/sent/games/1");
    now = after(61);
    expect((await browser.call("GET", "/sent/games/1/seat")).body).toBe("none");
  });
});

describe("a browser of a test that is signed in", () => {
  const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody is signed in.", challenge: "Session" });
  const sessions = Sessions.make({
    store: Sessions.memory(),
    shape: v.object({ user: v.string() }),
    idleMs: 60_000,
    absoluteMs: 60_000,
  });
  const user = Dep.join(
    { session: sessions.optional },
    ({ session }) => session?.data.user ?? refuse(signedOut, "Please sign in."),
    { refuses: [signedOut] },
  );
  const chat = Socket.protocol({ client: Socket.text, server: Socket.text });
  const Hello = Event.text("hello");
  const browser = () =>
    Test.browser(
      Test.app([
        post(Path.of("in"), { inputs: { setCookie }, returns: Returns.empty() }, async ({ setCookie }) => {
          await sessions.start(setCookie, { user: "kim" });
        }),
        get(Path.of("feed"), { inputs: { user }, returns: Returns.events([Hello]) }, ({ user }) => async (send) => {
          await send(Event.make(Hello, `hello ${user}`));
        }),
        get(Path.of("chat"), { inputs: { user }, returns: Returns.websocket(chat) }, ({ user }) => async (socket) => {
          for await (const line of socket) await socket.send(`${user}: ${line}`);
        }),
      ]),
    );

  it("reads an event stream with its cookies", async () => {
    const kim = browser();
    const seen: string[] = [];
    const receive = ({ data }: { readonly data: string }) => void seen.push(data);
    const refused = await kim.events("/feed", receive);
    expect(refused.ok || refused.error.status).toBe(401);
    await kim.call("POST", "/in");
    expect(await kim.events("/feed?from=1", receive)).toMatchObject({ ok: true });
    expect(seen).toEqual(["hello kim"]);
  });

  it("opens a WebSocket with its cookies", async () => {
    const kim = browser();
    const talk = async (socket: { send(text: string): Promise<unknown>; receive(): Promise<unknown> }) => {
      await socket.send("hi");
      return socket.receive();
    };
    const refused = await kim.websocket(chat, "/chat", talk);
    expect(refused).toMatchObject({ ok: false, error: { status: 401 } });
    await kim.call("POST", "/in");
    const opened = await kim.websocket(chat, "/chat", talk, { headers: [["cookie", "theme=dark"]] });
    expect(opened).toEqual({ ok: true, value: { ok: true, value: "kim: hi" } });
  });

  it("keeps the cookies of a refusal instead of a stream", async () => {
    const tested = Test.browser(
      Test.app([
        get(Path.of("feed"), { returns: Returns.response }, () =>
          Answer.make("later", { status: 409, cookies: [Cookie.make(Cookie.named("seen", Codec.string), "once")] }),
        ),
      ]),
    );
    await tested.events("/feed", () => {});
    expect(tested.cookies().get("seen")).toBe("once");
  });
});

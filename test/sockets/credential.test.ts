/** A credential among the subprotocols of a handshake, which a browser's script can set. */
import { describe, expect, it } from "vitest";
import { Dep, Path, Refusal, Returns, Socket, Test, get, refuse } from "usher-http";
import "../support/logs.ts";

const signedOut = Refusal.code("signed_out", { status: 401, doc: "No user is signed in.", challenge: "Bearer" });
const chat = Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: "chat" });
const user = Dep.map(Socket.credential("bearer."), (token) => token ?? "-");
const app = Test.app([
  get(Path.of("who"), { inputs: { user }, returns: Returns.text }, ({ user }) => user),
  get(
    Path.of("chat"),
    {
      inputs: {
        user: Dep.join({ user }, ({ user }) => (user === "t0ken" ? "ada" : refuse(signedOut)), {
          refuses: [signedOut],
        }),
      },
      returns: Returns.websocket(chat),
    },
    ({ user }) =>
      async (socket) => {
        await socket.send(user);
      },
  ),
]);

describe("a credential of a handshake", () => {
  it.each([
    ["the rest of the one that has the prefix", "chat, bearer.t0ken", "t0ken"],
    ["absent without one", "chat", "-"],
    ["absent with two", "bearer.a, bearer.b", "-"],
    ["absent where it is empty", "chat, bearer.", "-"],
    ["absent in another case", "chat, Bearer.t0ken", "-"],
  ])("is %s", async (_what, offered, expected) => {
    const answer = await Test.call(app, "GET", "/who", { headers: { "sec-websocket-protocol": offered } });
    expect(answer.body).toBe(expected);
  });

  it("opens the socket with the real subprotocol, and is never answered", async () => {
    const key = { upgrade: "websocket", connection: "upgrade", "sec-websocket-version": "13" };
    const headers = { ...key, "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" };
    const refused = await Test.call(app, "GET", "/chat", {
      headers: { ...headers, "sec-websocket-protocol": "chat, bearer.no" },
    });
    expect([refused.status, JSON.stringify([...refused.headers]).includes("bearer")]).toEqual([401, false]);
  });

  it.each(["", "bearer ", "a,b", 7])("has no prefix like %j", (prefix) => {
    expect(() => Socket.credential(prefix as string)).toThrow("Socket.credential: its prefix");
  });
});

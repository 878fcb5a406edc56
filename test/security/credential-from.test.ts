/** A JWT and an API key that an input gives: of a WebSocket's subprotocol, where a browser's script can set no header. */
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { ApiKeys, Codec, Dep, Header, Openapi, Path, Refusal, Returns, Socket, Test, get, refuse } from "usher-http";
import { Jwt } from "usher-http/jwt";
import { operation } from "../openapi/described.ts";
import { logged } from "../support/logs.ts";

const chat = Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: "chat" });
const secret = new Uint8Array(32).fill(7);
const from = Socket.credential("bearer.");
const options = {
  issuer: "i",
  audience: "a",
  keys: Jwt.secrets([secret]),
  algorithms: ["HS256"],
  clockSkewMs: 0,
} as const;
const at = new Date("2026-11-30T00:00:00Z");

const kinds = [
  {
    kind: "a JWT",
    scheme: "bearer-sec-websocket-protocol",
    /** A token that ends by the clock, `ms` after the requests. */
    async make(ms: number, scope: string) {
      const token = new SignJWT({ sub: "ada", scope, exp: (at.getTime() + ms) / 1000 });
      const user = Jwt.bearer({ ...options, from });
      return {
        text: await token.setProtectedHeader({ alg: "HS256" }).setIssuer("i").setAudience("a").sign(secret),
        caller: Dep.map(user, ({ sub }) => sub ?? ""),
        optional: Dep.map(user.optional, (claims) => claims?.sub ?? "nobody"),
        writer: Dep.map(user.scope("write"), ({ sub }) => sub ?? ""),
      };
    },
  },
  {
    kind: "an API key",
    scheme: "apiKey-sec-websocket-protocol",
    async make(ms: number, scope: string) {
      const keys = ApiKeys.make({ prefix: "shop", store: ApiKeys.memory() });
      const expiresAt = new Date(at.getTime() + ms);
      const { key } = await ApiKeys.create(keys, { owner: "ada", scopes: [scope], expiresAt });
      const caller = ApiKeys.input(keys, { from });
      return {
        text: key,
        caller: Dep.map(caller, ({ owner }) => owner),
        optional: Dep.map(caller.optional, (found) => found?.owner ?? "nobody"),
        writer: Dep.map(caller.scope("write"), ({ owner }) => owner),
      };
    },
  },
] as const;

const roomOf = (user: Dep<string, string, unknown>) =>
  get(Path.root, { inputs: { user }, returns: Returns.websocket(chat) }, ({ user }) => async (socket) => {
    await socket.send(user);
    for await (const _ of socket);
  });

/** Opens the socket with what is offered; the first message, or the status and the challenge of the answer. */
async function opened(user: Dep<string, string, unknown>, offered: string, headers = {}) {
  const options = { headers: { "sec-websocket-protocol": offered, ...headers }, now: at };
  const talk = async (socket: { receive(): Promise<unknown> }) => socket.receive();
  const got = await Test.websocket(Test.app([roomOf(user)]), chat, "/", talk, options);
  return got.ok ? got.value : [got.error.status, got.error.headers.get("www-authenticate")];
}

describe.each(kinds)("$kind of a subprotocol", ({ make, scheme }) => {
  it("is verified, and refused as one of Authorization", async () => {
    const { text, caller, optional, writer } = await make(60_000, "write");
    const ada = { ok: true, value: "ada" };
    expect(await opened(caller, `chat, bearer.${text}`)).toEqual(ada);
    expect(await opened(writer, `chat, bearer.${text}`)).toEqual(ada);
    expect(await opened(optional, "chat")).toEqual({ ok: true, value: "nobody" });
    expect(await opened(caller, "chat")).toEqual([401, "Bearer"]);
    expect(await opened(caller, "chat", { authorization: `Bearer ${text}` })).toEqual([401, "Bearer"]);
    const wrong = [401, 'Bearer error="invalid_token"'];
    expect(await opened(caller, `chat, bearer.${text}x`)).toEqual(wrong);
    expect(await opened(optional, "chat, bearer.x")).toEqual(wrong);
    expect(JSON.stringify(logged())).not.toContain(text.slice(-20));
    const reader = await make(60_000, "read");
    const lacking = [403, 'Bearer error="insufficient_scope", scope="write"'];
    expect(await opened(reader.writer, `chat, bearer.${reader.text}`)).toEqual(lacking);
  });

  it("ends the socket where it ends", async () => {
    const { text, caller } = await make(1000, "read");
    const headers = { "sec-websocket-protocol": `chat, bearer.${text}` };
    const talk = async (socket: { receive(): Promise<unknown> }) => [await socket.receive(), await socket.receive()];
    const got = await Test.websocket(Test.app([roomOf(caller)]), chat, "/", talk, { headers, now: at });
    expect(got).toMatchObject({ ok: true, value: [{ ok: true, value: "ada" }, { ok: false }] });
  });

  it("is an API key in the API document", async () => {
    const { caller, optional, writer } = await make(60_000, "read");
    const about = { title: "Shop", version: "1" };
    const { components } = Openapi.document([roomOf(writer)], about);
    const read = { type: "apiKey", in: "header", name: "sec-websocket-protocol" };
    expect(components?.securitySchemes).toEqual({ [scheme]: read });
    expect(operation(roomOf(caller))).toMatchObject({ security: [{ [scheme]: [] }] });
    expect(operation(roomOf(caller))).not.toHaveProperty("parameters");
    expect(operation(roomOf(writer))).toMatchObject({
      security: [{ [scheme]: ["write"] }],
      responses: { 401: {}, 403: {} },
    });
    expect(operation(roomOf(optional)).security?.at(-1)).toEqual({});
  });
});

it("a credential of an input has what the input refuses, and what a client sends for it", async () => {
  const late = Refusal.code("late", { status: 400, doc: "It is late." });
  const from = Dep.join({ text: Header.optional("x-token", Codec.string) }, ({ text }) => text ?? refuse(late), {
    refuses: [late],
  });
  const user = Jwt.bearer({ ...options, from });
  const key: Dep<unknown, "late" | "signed_out", { headers?: { "x-token"?: string } }> = user;
  const app = Test.app([get(Path.root, { inputs: { key }, returns: Returns.text }, () => "")]);
  expect((await Test.call(app, "GET", "/")).status).toBe(400);
  expect((await Test.call(app, "GET", "/", { headers: { "x-token": "x" } })).status).toBe(401);
});

it("a credential has one place", () => {
  const keys = ApiKeys.make({ prefix: "shop", store: ApiKeys.memory() });
  const both = { header: "x-api-key", from } as unknown as { readonly header: string };
  expect(() => ApiKeys.input(keys, both)).toThrow("ApiKeys.input: header and from are two places");
  const openIdConnect = "https://id.example/.well-known/openid-configuration";
  expect(() => Jwt.bearer({ ...options, from, openIdConnect })).toThrow("Jwt.bearer: openIdConnect is for");
});

// Exports of a library about the caller: each type is inferred.
import { ApiKeys, Dep, Keys, Rate, Sessions, Socket, client } from "usher-http";
import type { ApiKeyStore, RateStore, SessionStore } from "usher-http";
import { Jwt } from "usher-http/jwt";
import { Oidc } from "usher-http/oidc";
import * as v from "valibot";

export const jwtKeys = Jwt.secrets(["a secret of thirty-two bytes, 1!"]);
export const jwks = Jwt.jwks("https://login.example/keys");
export const publicKeys = async () => Jwt.publicKeys([]);
export const user = Jwt.bearer({
  issuer: "https://login.example/",
  audience: "shop",
  keys: jwtKeys,
  algorithms: ["HS256"],
  claims: v.object({ sub: v.string() }),
});
export const writer = user.scope("write");
export const userOfSocket = Jwt.bearer({
  issuer: "https://login.example/",
  audience: "shop",
  keys: jwtKeys,
  algorithms: ["HS256"],
  from: Socket.credential("bearer."),
});
export const anyone = user.optional;
export const accounts = Oidc.issuer("https://accounts.example", {
  clientId: "shop",
  clientSecret: ["a secret of the issuer"],
});
export const oidcSessions = Sessions.make({
  store: Sessions.memory(),
  shape: v.object({ user: v.string(), tokens: v.optional(Oidc.tokens) }),
  idleMs: 1000,
  absoluteMs: 1000,
});
export const accessToken = Oidc.accessToken([accounts], oidcSessions);
export const signIn = Oidc.routes(accounts, {
  origin: "https://shop.example",
  keys: Keys.ring("a secret of thirty-two bytes, 1!"),
  sessions: oidcSessions,
  onSignIn: ({ claims, tokens }) => ({ user: claims.sub, tokens }),
});
export const apiKeyStore = ApiKeys.memory();
export const apiKeys = ApiKeys.make({ prefix: "shop_live", store: apiKeyStore });
export const caller = ApiKeys.input(apiKeys);
export const reader = caller.scope("read");
export const callerOfSocket = ApiKeys.input(apiKeys, { from: Socket.credential("key.") });
export const callerByHeader = ApiKeys.input(apiKeys, { header: "x-api-key" });
export const created = async () => ApiKeys.create(apiKeys, { owner: "ada" });
// Stores that are opened after these are declared.
export const countsStore = Dep.ofResource<RateStore>("counts");
export const sharedRate = Rate.make({ limit: 5, perMs: 1000, store: countsStore });
export const ownRate = Rate.make({ limit: 5, perMs: 1000 });
export const limitedTogether = Rate.limit(sharedRate, { key: client });
export const apiKeysInTable = ApiKeys.make({ prefix: "shop_live", store: Dep.ofResource<ApiKeyStore>("keys") });
export const apiKeysWithStore = ApiKeys.withStore(apiKeysInTable);
export const callerInTable = ApiKeys.input(apiKeysInTable);
export const sessionsInTable = Sessions.make({
  store: Dep.ofResource<SessionStore>("sessions"),
  shape: v.object({ user: v.string() }),
  idleMs: 1000,
  absoluteMs: 1000,
});
export const sessionsWithStore = sessionsInTable.withStore;

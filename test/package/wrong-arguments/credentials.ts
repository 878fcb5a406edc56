/** What JavaScript can get wrong in tokens and API keys. */
import { ApiKeys, Socket } from "usher-http";
import { Jwt } from "usher-http/jwt";
import * as v from "valibot";
import type { Tables } from "./rule.ts";

const secret = "the table's own secret of 32 bytes and more";
const token = { issuer: "https://login.example/", audience: "shop", keys: Jwt.secrets([secret]) };
const options = { ...token, algorithms: ["HS256"] } as const;
const url = "https://login.example/jwks.json";
const key = '{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}';

const apiKeys = ApiKeys.make({ prefix: "shop_live", store: ApiKeys.memory() });
const store = ApiKeys.memory();
const owner = "ada";

export const credentialTables: Tables = {
  "API keys": [
    ["ApiKeys.make", (o) => ApiKeys.make(o), [{ prefix: "shop_live", store }]],
    ["ApiKeys.make", (prefix) => ApiKeys.make({ prefix, store }), ["shop_live"]],
    ["ApiKeys.make", (store) => ApiKeys.make({ prefix: "shop_live", store }), [store]],
    ["ApiKeys.make", (ms) => ApiKeys.make({ prefix: "shop_live", store, usedEveryMs: ms }), [1000]],
    ["ApiKeys.memory", (o) => ApiKeys.memory(o), [{}]],
    ["ApiKeys.memory", (most) => ApiKeys.memory({ most }), [10]],
    ["ApiKeys.create", (keys, o) => ApiKeys.create(keys, o), [apiKeys, { owner }]],
    ["ApiKeys.create", (owner) => ApiKeys.create(apiKeys, { owner }), ["ada"]],
    ["ApiKeys.create", (name) => ApiKeys.create(apiKeys, { owner, name }), ["CI"]],
    ["ApiKeys.create", (scopes) => ApiKeys.create(apiKeys, { owner, scopes }), [["read"]]],
    ["ApiKeys.create", (at) => ApiKeys.create(apiKeys, { owner, expiresAt: at }), [new Date()]],
    ["ApiKeys.list", (keys, owner) => ApiKeys.list(keys, owner), [apiKeys, "ada"]],
    ["ApiKeys.revoke", (keys, id) => ApiKeys.revoke(keys, id), [apiKeys, "id"]],
    ["ApiKeys.rotate", (keys, id, o) => ApiKeys.rotate(keys, id, o), [apiKeys, "id", { overlapMs: 1 }]],
    ["ApiKeys.rotate", (ms) => ApiKeys.rotate(apiKeys, "id", { overlapMs: ms }), [1]],
    ["ApiKeys.withStore", (keys) => ApiKeys.withStore(keys), [apiKeys]],
    ["ApiKeys.input", (keys, o) => ApiKeys.input(keys, o), [apiKeys, {}]],
    ["ApiKeys.input", (header) => ApiKeys.input(apiKeys, { header }), ["x-api-key"]],
    ["ApiKeys.input", (from) => ApiKeys.input(apiKeys, { from }), [Socket.credential("key.")]],
    ["ApiKeys.input", (doc) => ApiKeys.input(apiKeys, { doc }), ["A key."]],
    ["ApiKeys.input", (scope) => ApiKeys.input(apiKeys).scope(scope), ["read"]],
  ],
  "usher-http/jwt": [
    ["Jwt.bearer", (o) => Jwt.bearer(o), [options]],
    ["Jwt.bearer", (issuer) => Jwt.bearer({ ...options, issuer }), ["https://login.example/"]],
    ["Jwt.bearer", (audience) => Jwt.bearer({ ...options, audience }), ["shop"]],
    ["Jwt.bearer", (keys) => Jwt.bearer({ ...options, keys }), [options.keys]],
    ["Jwt.bearer", (algorithms) => Jwt.bearer({ ...options, algorithms }), [["HS256"]]],
    ["Jwt.bearer", (claims) => Jwt.bearer({ ...options, claims }), [v.object({})]],
    ["Jwt.bearer", (ms) => Jwt.bearer({ ...options, clockSkewMs: ms }), [1000]],
    ["Jwt.bearer", (ms) => Jwt.bearer({ ...options, maxAgeMs: ms }), [1000]],
    ["Jwt.bearer", (maxLength) => Jwt.bearer({ ...options, maxLength }), [1000]],
    ["Jwt.bearer", (typ) => Jwt.bearer({ ...options, typ }), ["at+jwt"]],
    ["Jwt.bearer", (scopeClaim) => Jwt.bearer({ ...options, scopeClaim }), ["scp"]],
    ["Jwt.bearer", (realm) => Jwt.bearer({ ...options, realm }), ["shop"]],
    ["Jwt.bearer", (url) => Jwt.bearer({ ...options, resourceMetadata: url }), [url]],
    ["Jwt.bearer", (url) => Jwt.bearer({ ...options, openIdConnect: url }), [url]],
    ["Jwt.bearer", (name) => Jwt.bearer({ ...options, name }), ["login"]],
    ["Jwt.bearer", (from) => Jwt.bearer({ ...options, from }), [Socket.credential("bearer.")]],
    ["Jwt.bearer", (doc) => Jwt.bearer({ ...options, doc }), ["A token."]],
    ["Jwt.bearer", (scope) => Jwt.bearer(options).scope(scope), ["write"]],
    ["Jwt.jwks", (url, o) => Jwt.jwks(url, o), [url, {}]],
    ["Jwt.jwks", (maxAgeMs) => Jwt.jwks(url, { maxAgeMs }), [1000]],
    ["Jwt.jwks", (staleMs) => Jwt.jwks(url, { staleMs }), [1000]],
    ["Jwt.jwks", (refreshMs) => Jwt.jwks(url, { refreshMs }), [1000]],
    ["Jwt.jwks", (timeoutMs) => Jwt.jwks(url, { timeoutMs }), [1000]],
    ["Jwt.jwks", (maxBytes) => Jwt.jwks(url, { maxBytes }), [1000]],
    ["Jwt.jwks", (allowHttp) => Jwt.jwks(url, { allowHttp }), [true]],
    ["Jwt.publicKeys", (texts) => Jwt.publicKeys(texts), [[key]]],
    ["Jwt.publicKeys", (text) => Jwt.publicKeys([text]), [key]],
    ["Jwt.secrets", (secrets) => Jwt.secrets(secrets), [[secret]]],
    ["Jwt.secrets", (one) => Jwt.secrets([one]), [secret]],
  ],
};

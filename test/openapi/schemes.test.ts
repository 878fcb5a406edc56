/** Credentials by OAuth 2 and OpenID Connect in the document. */
import { describe, expect, it } from "vitest";
import { Codec, Dep, Header, Path, Returns, get } from "usher-http";
import type { Openapi } from "usher-http";
import * as v from "valibot";
import { described, onlyOperation, operation } from "./described.ts";
import { wrongWith } from "./official.ts";
import { plain, root } from "./small-routes.ts";

const token = Header.optional("authorization", Codec.credentials);
const flow = {
  authorizationUrl: "https://id.example/authorize",
  tokenUrl: "https://id.example/token",
  scopes: { "orders:read": "Read orders.", "orders:write": "Place orders." },
};
const oauth2 = { authorizationCode: flow };
const openIdConnect = "https://id.example/.well-known/openid-configuration";
const schemes = ({ components }: Openapi.Document) => components.securitySchemes;

describe("a credential's scheme", () => {
  it.each<[what: string, options: Dep.CredentialOptions, scheme: object]>([
    ["of HTTP", {}, { type: "http", scheme: "id" }],
    ["by OAuth 2", { oauth2, doc: "Who asks." }, { type: "oauth2", flows: oauth2, description: "Who asks." }],
    ["by OpenID Connect", { openIdConnect }, { type: "openIdConnect", openIdConnectUrl: openIdConnect }],
  ])("%s", async (_what, options, scheme) => {
    const document = described([root({ who: Dep.credential("id", token, options) })]);
    expect(schemes(document)).toEqual({ id: scheme });
    expect(await wrongWith(document)).toEqual([]);
  });

  it("of HTTP has its format", async () => {
    const who = Dep.credential("bearer", token, { bearerFormat: "JWT" });
    const document = described([root({ who })]);
    expect(schemes(document)).toEqual({ bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } });
    expect(await wrongWith(document)).toEqual([]);
  });

  it("has the scopes that the inputs need, each once", () => {
    const reads = Dep.credential("id", token, { oauth2, scopes: ["orders:read"] });
    const writes = Dep.credential("id", token, { oauth2, scopes: ["orders:read", "orders:write"], optional: false });
    expect(operation(root({ reads, writes })).security).toEqual([{ id: ["orders:read", "orders:write"] }]);
    expect(operation(root({ reads })).security).toEqual([{ id: ["orders:read"] }, {}]);
  });

  // OpenAPI 3.1 §4.8.30: for other types than OAuth 2 and OpenID Connect, they are roles that are required. 3.0 had none.
  it.each(["3.1", "3.2"] as const)("has the scopes of a scheme that declares none, in OpenAPI %s", async (openapi) => {
    const reads = Dep.credential("bearer", token, { scopes: ["orders:read"] });
    const byHeader = Dep.credential("apiKey", Header.optional("x-key", Codec.string), { scopes: ["orders:write"] });
    const document = described([root({ reads, byHeader })], { openapi });
    expect(onlyOperation(document).security).toEqual([{ bearer: ["orders:read"] }, { apiKey: ["orders:write"] }, {}]);
    expect(await wrongWith(document)).toEqual([]);
  });

  it.each<[options: Dep.CredentialOptions, why: string]>([
    [{ oauth2, openIdConnect }, "GET / has the credential id by OAuth 2 and by OpenID Connect: it is one"],
    [{ oauth2, scopes: ["admin"] }, "GET / has the credential id with the scope admin, which no flow lists"],
    [{ bearerFormat: "JWT" }, "GET / has the credential id with a bearerFormat, which only the scheme bearer has"],
  ])("%j is refused", (options, why) => {
    expect(() => described([root({ who: Dep.credential("id", token, options) })])).toThrow(`Openapi: ${why}`);
  });
});

describe("the description of an answer", () => {
  it("is the route's own", () => {
    const json = get(Path.of("a"), { returns: Returns.json(v.string(), { doc: "The name of the shop." }) }, () => "");
    const empty = get(Path.of("b"), { returns: Returns.empty({ doc: "It is gone." }) }, () => {});
    const made = get(Path.of("c"), { returns: Returns.empty({ status: 201 }) }, () => {});
    expect(operation(json).responses["200"]?.description).toBe("The name of the shop.");
    expect(operation(empty).responses["204"]?.description).toBe("It is gone.");
    expect(operation(made).responses["201"]?.description).toBe("No content.");
    expect(operation(plain).responses["200"]?.description).toBe("OK.");
  });
});

/**
 * The access tokens of each provider that a page names. Those of `issued.ts` were signed by the provider; of the others only the claims are
 * public, in its documentation or its own tests, and a key of this test signs them.
 */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Jwt } from "usher-http/jwt";
import type { JwtOptions } from "usher-http/jwt";
import { messages } from "../../support/logs.ts";
import { issued } from "./issued.ts";
import { asking, pairOf, seconds, signed } from "./tokens.ts";

type Claims = { readonly [claim: string]: unknown };

interface Provider {
  readonly name: string;
  /** Where the claims are from. */
  readonly source: string;
  readonly header?: { readonly [member: string]: string };
  readonly claims: Claims & { readonly iss: string };
  readonly options: Pick<JwtOptions, "audience"> & Partial<JwtOptions>;
  /** A scope that it has. */
  readonly scope?: string;
  /** Tokens of the same issuer and key which this service must refuse, and why. */
  readonly refused: readonly (readonly [what: string, claims: Claims, reason: string])[];
}

const tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47";

const keycloakSource =
  "keycloak/keycloak, testsuite/integration-arquillian/tests/base/src/test/java/org/keycloak/testsuite/oauth/TokenIntrospectionTest.java";
/** Of the token there, which a key of 1024 bits signed. */
const keycloakClaims = {
  jti: "9681e4e8-578e-473b-9204-2ea997ac3018",
  iss: "http://localhost:8180/auth/realms/test",
  sub: "ef2c9460-d4dc-4999-bebe-eefaed6bf0e7",
  typ: "Bearer",
  azp: "test-app",
  auth_time: 1_476_106_549,
  session_state: "58f83c32-708d-4369-88a4-9b298dc06978",
  acr: "1",
  client_session: "656295dd-decd-42d0-abfc-3dbcf2e01772",
  "allowed-origins": ["http://localhost:8180"],
  realm_access: { roles: ["user"] },
  resource_access: { "test-app": { roles: ["customer-user"] }, account: { roles: ["manage-account", "view-profile"] } },
  name: "Tom Brady",
  preferred_username: "test-user@localhost",
  given_name: "Tom",
  family_name: "Brady",
  email: "test-user@localhost",
};

const providers: readonly Provider[] = [
  {
    name: "Amazon Cognito",
    source:
      "https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-access-token.html",
    claims: {
      sub: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      device_key: "us-west-2_aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      "cognito:groups": ["testgroup"],
      iss: "https://cognito-idp.us-west-2.amazonaws.com/us-west-2_example",
      version: 2,
      client_id: "xxxxxxxxxxxxexample",
      origin_jti: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      event_id: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      token_use: "access",
      scope: "phone openid profile resourceserver.1/appclient2 email",
      auth_time: 1_676_313_851,
      jti: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      username: "my-test-user",
    },
    options: { audience: "xxxxxxxxxxxxexample", audienceClaim: "client_id" },
    scope: "resourceserver.1/appclient2",
    refused: [
      ["an access token of another app client", { client_id: "another" }, "its client_id is another"],
      // An ID token has `aud` in place of `client_id`.
      [
        "an ID token",
        { client_id: undefined, aud: "xxxxxxxxxxxxexample", token_use: "id", scope: undefined },
        "it has no client_id",
      ],
    ],
  },
  {
    name: "Auth0",
    source: "https://auth0.com/docs/secure/tokens/access-tokens/access-token-profiles",
    header: { typ: "at+jwt" },
    claims: {
      iss: "https://my-domain.auth0.com/",
      sub: "auth0|123456",
      aud: ["https://example.com/health-api", "https://my-domain.auth0.com/userinfo"],
      jti: "lORUkYUYJZXdzy3lzTDbjQ",
      client_id: "my_client_id",
      scope: "openid profile read:patients read:admin",
    },
    options: { audience: "https://example.com/health-api", typ: "at+jwt" },
    scope: "read:patients",
    refused: [["a token for UserInfo alone", { aud: ["https://my-domain.auth0.com/userinfo"] }, "its aud is another"]],
  },
  {
    name: "Auth0, with the permissions of its roles",
    source: "https://auth0.com/docs/get-started/apis/enable-role-based-access-control-for-apis",
    claims: {
      iss: "https://my-domain.auth0.com/",
      sub: "auth0|123456",
      aud: ["https://example.com/health-api", "https://my-domain.auth0.com/userinfo"],
      azp: "my_client_id",
      scope: "openid profile",
      permissions: ["read:patients", "read:admin"],
    },
    options: { audience: "https://example.com/health-api", scopeClaim: "permissions" },
    scope: "read:admin",
    refused: [["a token for another API", { aud: "https://example.com/other" }, "its aud is another"]],
  },
  {
    name: "Okta",
    source: "https://developer.okta.com/docs/api/openapi/okta-oauth/guides/overview/#access-token",
    claims: {
      ver: 1,
      jti: "AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE",
      iss: "https://example.okta.com/oauth2/default",
      aud: "api://default",
      sub: "00ujmkLgagxeRrAg20g3",
      cid: "nmdP1fcyvdVO11AL7ECm",
      uid: "00ujmkLgagxeRrAg20g3",
      scp: ["openid", "email", "flights", "custom"],
    },
    options: { audience: "api://default", scopeClaim: "scp" },
    scope: "flights",
    // Of the ID token `aud` is the client.
    refused: [["an ID token", { aud: "nmdP1fcyvdVO11AL7ECm", scp: undefined }, "its aud is another"]],
  },
  {
    name: "Microsoft Entra ID, version 2.0",
    // awslabs/aws-jwt-verify, tests/vite-app/cypress/fixtures/ms-token-data.json has it with a part of its signature.
    source: "https://learn.microsoft.com/entra/identity-platform/access-tokens",
    header: { typ: "JWT" },
    claims: {
      aud: "6e74172b-be56-4843-9ff4-e66a39bb12e3",
      iss: `https://login.microsoftonline.com/${tenant}/v2.0`,
      aio: "AXQAi/8IAAAAtAaZLo3ChMif6KOnttRB7eBq4/DccQzjcJGxPYy/C3jDaNGxXd6wNIIVGRghNRnwJ1lOcAnNZcjvkoyrFxCttv33140RioOFJ4bCCGVuoCag1uOTT22222gHwLPYQ/uf79QX+0KIijdrmp69RctzmQ==",
      azp: "6e74172b-be56-4843-9ff4-e66a39bb12e3",
      azpacr: "0",
      name: "Abe Lincoln",
      oid: "690222be-ff1a-4d56-abd1-7e4f7d38e474",
      preferred_username: "abeli@microsoft.com",
      rh: "I",
      scp: "access_as_user",
      sub: "HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ",
      tid: tenant,
      uti: "fqiBqXLPj0eQa82S-IYFAA",
      ver: "2.0",
    },
    options: { audience: "6e74172b-be56-4843-9ff4-e66a39bb12e3", scopeClaim: "scp" },
    scope: "access_as_user",
    refused: [
      [
        "a token of another tenant",
        { iss: "https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/v2.0" },
        "its iss is another",
      ],
      ["a token for Microsoft Graph", { aud: "00000003-0000-0000-c000-000000000000" }, "its aud is another"],
    ],
  },
  {
    name: "Microsoft Entra ID, version 1.0",
    source: "https://learn.microsoft.com/entra/identity-platform/access-tokens",
    header: { typ: "JWT", x5t: "i6lGk3FZzxRcUb2C3nEQ7syHJlY" },
    claims: {
      aud: "api://ef1da9d4-ff77-4c3e-a005-840c3f830745",
      iss: "https://sts.windows.net/fa15d692-e9c7-4460-a743-29f2956fd429/",
      acr: "1",
      amr: ["rsa", "mfa"],
      appid: "75dbe77f-10a3-4e59-85fd-8c127544f17c",
      appidacr: "0",
      email: "abeli@microsoft.com",
      idp: `https://sts.windows.net/${tenant}/`,
      name: "Abe Lincoln (Microsoft)",
      oid: "32b6f8dc-0a5e-4a1f-8b33-1b8f0c5c1a2b",
      scp: "user_impersonation",
      sub: "mi2m3mPWd6Jg-yE1qUaQ7bdvjXyHyrJN-UGp4pCl5HM",
      tid: "fa15d692-e9c7-4460-a743-29f2956fd429",
      unique_name: "abeli@microsoft.com",
      ver: "1.0",
    },
    options: { audience: "api://ef1da9d4-ff77-4c3e-a005-840c3f830745", scopeClaim: "scp" },
    scope: "user_impersonation",
    refused: [["a token of version 2.0", { aud: "ef1da9d4-ff77-4c3e-a005-840c3f830745" }, "its aud is another"]],
  },
  {
    name: "Keycloak, whose aud has the client",
    source: keycloakSource,
    header: { typ: "JWT" },
    claims: { ...keycloakClaims, aud: "test-app" },
    options: { audience: "test-app" },
    refused: [["a token without this audience", { aud: "account" }, "its aud is another"]],
  },
  {
    name: "Keycloak without an audience mapper",
    // Since Keycloak 4.6 `aud` has only clients whose roles the token has: https://www.keycloak.org/docs/latest/server_admin/#_audience_resolve
    source: keycloakSource,
    header: { typ: "JWT" },
    claims: { ...keycloakClaims, aud: "account" },
    options: { audience: "test-app", audienceClaim: "azp" },
    refused: [["a token of another client", { azp: "another" }, "its azp is another"]],
  },
];

const kid = "1234example=";
// One of each for all: to make a pair of RSA takes a quarter of a second.
const pair = await pairOf("RS256", kid, { use: "sig" });
// Entra's keys have no `alg`, but an issuer and a certificate; Keycloak has a key for encryption next to the one for signatures.
const encryption = await pairOf("RSA-OAEP", "enc", { use: "enc", alg: "RSA-OAEP" });

describe.each(providers)("an access token of $name", ({ claims, header = {}, options, scope, refused }) => {
  const times = { iat: seconds - 10, nbf: seconds - 10, exp: seconds + 3590 };
  const given = { ...claims, ...times };

  async function issuing() {
    const set = { keys: [encryption.jwk, { ...pair.jwk, x5t: kid, x5c: ["MIIC"], issuer: claims.iss }] };
    const keys = await Jwt.publicKeys([JSON.stringify(set)]);
    const user = Jwt.bearer({ issuer: claims.iss, keys, algorithms: ["RS256"], ...options });
    const tokenOf = (more: Claims) =>
      signed(pair.privateKey, { alg: "RS256", kid, ...header }, { aud: undefined, sub: undefined, ...given, ...more });
    return { user, tokenOf };
  }

  it("is verified, with its claims and its scope", async () => {
    const { user, tokenOf } = await issuing();
    const [status, , body] = await asking(scope === undefined ? user : user.scope(scope))(await tokenOf({}));
    expect([status, JSON.parse(body)]).toEqual([200, given]);
    expect((await asking(user.scope("another:scope"))(await tokenOf({})))[0]).toBe(403);
  });

  it.each(refused)("is refused where it is %s", async (_what, more, reason) => {
    const { user, tokenOf } = await issuing();
    expect((await asking(user)(await tokenOf(more)))[0]).toBe(401);
    expect(messages("warn").at(-1)).toContain(reason);
  });
});

describe.each(issued)("a token that was signed by $name", ({ keys, token, options, scope }) => {
  const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { readonly iat: number };
  const then = new Date((claims.iat + 1) * 1000);
  const userBy = async (more: Partial<JwtOptions> = {}) => {
    const read = await Jwt.publicKeys([typeof keys === "string" ? keys : JSON.stringify(keys)]);
    return Jwt.bearer({ keys: read, algorithms: ["RS256"], ...options, ...more });
  };

  it("is verified", async () => {
    const user = await userBy();
    const [status, , body] = await asking(scope === undefined ? user : user.scope(scope))(token, then);
    expect([status, JSON.parse(body)]).toEqual([200, claims]);
  });

  it("is refused once it has expired, with another signature, of another issuer and for another audience", async () => {
    const user = await userBy();
    const end = token.at(-10) === "A" ? "B" : "A";
    const changed = `${token.slice(0, -10)}${end}${token.slice(-9)}`;
    expect((await asking(user)(token))[0]).toBe(401);
    expect((await asking(user)(changed, then))[0]).toBe(401);
    expect((await asking(await userBy({ issuer: "https://login.example/" }))(token, then))[0]).toBe(401);
    expect((await asking(await userBy({ audience: "another" }))(token, then))[0]).toBe(401);
    expect((await asking(user.scope("another:scope"))(token, then))[0]).toBe(403);
  });
});

it("an ID token of Keycloak is refused by the typ of an access token", async () => {
  const { keys, token, options } = issued.find(({ name }) => name.startsWith("Keycloak"))!;
  const read = await Jwt.publicKeys([JSON.stringify(keys)]);
  const by = { ...options, keys: read, algorithms: ["RS256"], audienceClaim: "azp" } as const;
  const then = new Date(1_697_645_171_000);
  expect((await asking(Jwt.bearer(by))(token, then))[0]).toBe(200);
  const claims = v.object({ sub: v.string(), typ: v.literal("Bearer") });
  expect((await asking(Jwt.bearer({ ...by, claims }))(token, then))[0]).toBe(401);
});

describe("the claim of the audience", () => {
  it.each([
    ["a list with it", ["other", "web"], 200],
    ["a list without it", ["other"], 401],
    ["a list of other types", [{ web: true }, 1], 401],
    ["an object", { web: true }, 401],
    ["a part of it", "we", 401],
    ["nothing", null, 401],
  ])("may be %s", async (_what, azp, expected) => {
    const pair = await pairOf("ES256", "one");
    const keys = await Jwt.publicKeys([pair.pem]);
    const issuer = "https://login.example/";
    const user = Jwt.bearer({ issuer, audience: ["api", "web"], audienceClaim: "azp", keys, algorithms: ["ES256"] });
    const token = await signed(pair.privateKey, { alg: "ES256" }, { azp, aud: "shop" });
    expect((await asking(user)(token))[0]).toBe(expected);
  });

  it("has a name", async () => {
    const keys = Jwt.secrets(["a secret of thirty-two bytes, 1!"]);
    const options = { issuer: "https://login.example/", audience: "shop", keys, algorithms: ["HS256"] } as const;
    expect(() => Jwt.bearer({ ...options, audienceClaim: "" })).toThrow("Jwt.bearer: audienceClaim is empty");
    expect(() => Jwt.bearer({ ...options, audienceClaim: 5 as never })).toThrow("Jwt.bearer: audienceClaim");
  });
});

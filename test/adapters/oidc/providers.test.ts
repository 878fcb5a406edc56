/**
 * A whole sign-in with each issuer that a page names: its discovery document and the claims of its ID tokens, as the issuer publishes them.
 * redpanda-data/redpanda, src/v/security/tests/jwt_test.cc, has copies of the documents of Google, Entra ID, Keycloak and Auth0. A key of this
 * test signs the tokens, since each has the `nonce` of its sign-in; tests of `Jwt` verify tokens with the issuers' own signatures.
 */
import { SignJWT, exportJWK, generateKeyPair } from "jose";
import { expect, it } from "vitest";
import { Path, Returns, Test, get } from "usher-http";
import type { HttpClient } from "usher-http";
import { Oidc } from "usher-http/oidc";
import { keys, session } from "./fake-issuer.ts";

type Members = { readonly [name: string]: unknown };

interface Provider {
  readonly name: string;
  /** Where the document and the claims are from. */
  readonly source: string;
  readonly issuer: string;
  /** What it says of itself, without the members that a client of the code flow does not read. */
  readonly document: Members & { readonly [at in "authorization_endpoint" | "token_endpoint" | "jwks_uri"]: string };
  readonly claims: Members;
  readonly sendSecret?: "post";
  /** Of its answer, in addition to the code and the state. */
  readonly answer?: { readonly [name: string]: string };
}

const secret = "a secret of 24 characters";
const tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47";
const microsoft = `https://login.microsoftonline.com/${tenant}`;
const realm = "https://keycloak.example/realms/shop/protocol/openid-connect";

const providers: readonly Provider[] = [
  {
    name: "Google",
    source: "https://accounts.google.com/.well-known/openid-configuration",
    issuer: "https://accounts.google.com",
    document: {
      authorization_endpoint: "https://accounts.google.com/o/oauth2/v2/auth",
      device_authorization_endpoint: "https://oauth2.googleapis.com/device/code",
      token_endpoint: "https://oauth2.googleapis.com/token",
      userinfo_endpoint: "https://openidconnect.googleapis.com/v1/userinfo",
      revocation_endpoint: "https://oauth2.googleapis.com/revoke",
      jwks_uri: "https://www.googleapis.com/oauth2/v3/certs",
      response_types_supported: ["code", "token", "id_token", "code token", "code id_token", "none"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      scopes_supported: ["openid", "email", "profile"],
      token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
      code_challenge_methods_supported: ["plain", "S256"],
    },
    claims: {
      azp: "shop",
      sub: "110169484474386276334",
      at_hash: "HK6E_P6Dh8Y93mRNtsDB1Q",
      hd: "example.com",
      email: "jsmith@example.com",
      email_verified: true,
    },
    answer: { scope: "email openid", authuser: "0", prompt: "consent" },
  },
  {
    name: "Microsoft Entra ID",
    source: `${microsoft}/v2.0/.well-known/openid-configuration`,
    issuer: `${microsoft}/v2.0`,
    document: {
      token_endpoint: `${microsoft}/oauth2/v2.0/token`,
      token_endpoint_auth_methods_supported: ["client_secret_post", "private_key_jwt", "client_secret_basic"],
      jwks_uri: `${microsoft}/discovery/v2.0/keys`,
      response_modes_supported: ["query", "fragment", "form_post"],
      subject_types_supported: ["pairwise"],
      id_token_signing_alg_values_supported: ["RS256"],
      response_types_supported: ["code", "id_token", "code id_token", "id_token token"],
      scopes_supported: ["openid", "profile", "email", "offline_access"],
      request_uri_parameter_supported: false,
      userinfo_endpoint: "https://graph.microsoft.com/oidc/userinfo",
      authorization_endpoint: `${microsoft}/oauth2/v2.0/authorize`,
      http_logout_supported: true,
      frontchannel_logout_supported: true,
      end_session_endpoint: `${microsoft}/oauth2/v2.0/logout`,
      tenant_region_scope: "WW",
      cloud_instance_name: "microsoftonline.com",
    },
    claims: {
      ver: "2.0",
      sub: "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
      name: "Abe Lincoln",
      preferred_username: "AbeLi@microsoft.com",
      oid: "00000000-0000-0000-66f3-3332eca7ea81",
      tid: tenant,
      aio: "Df2UVXL1ix!lMCWMSOJBcFatzcGfvFGhjKv8q5g0x732dR5MB5BisvGQO7YWByjd8iQDLq!eGbIDakyp5mnOrcdqHeYSnltepQmRp6AIZ8jY",
    },
    answer: { session_state: "8a3c1d0e-5a5e-4b5f-8a1b-2a0f3c1d0e5a" },
  },
  {
    name: "Keycloak",
    source: "https://www.keycloak.org/securing-apps/oidc-layers#_discovery",
    issuer: "https://keycloak.example/realms/shop",
    document: {
      authorization_endpoint: `${realm}/auth`,
      token_endpoint: `${realm}/token`,
      introspection_endpoint: `${realm}/token/introspect`,
      userinfo_endpoint: `${realm}/userinfo`,
      end_session_endpoint: `${realm}/logout`,
      jwks_uri: `${realm}/certs`,
      grant_types_supported: ["authorization_code", "implicit", "refresh_token", "password", "client_credentials"],
      id_token_signing_alg_values_supported: ["PS384", "RS384", "EdDSA", "ES384", "HS256", "ES256", "RS256", "PS512"],
      token_endpoint_auth_methods_supported: ["private_key_jwt", "client_secret_basic", "client_secret_post"],
      code_challenge_methods_supported: ["plain", "S256"],
      authorization_response_iss_parameter_supported: true,
      require_pushed_authorization_requests: false,
    },
    claims: {
      auth_time: 1_763_000_000,
      jti: "e0d0cd4a-8a1c-4b7f-9a52-6b5f1e1e6f0f",
      sub: "f1888f4d-5172-4359-be0c-af338505d86c",
      typ: "ID",
      azp: "shop",
      sid: "b5a0b6c0-5c5e-4f6a-8f6e-0f7a7d6a4a5b",
      acr: "1",
      email_verified: false,
      preferred_username: "ada",
    },
    answer: { session_state: "b5a0b6c0-5c5e-4f6a-8f6e-0f7a7d6a4a5b", iss: "https://keycloak.example/realms/shop" },
  },
  {
    name: "Apple, whose secret is a signed JWT in the body",
    // The claims: pennersr/django-allauth, allauth/socialaccount/providers/apple/tests.py
    source: "panva/wellknown, issuers/apple/apple.mjs",
    issuer: "https://appleid.apple.com",
    document: {
      authorization_endpoint: "https://appleid.apple.com/auth/authorize",
      token_endpoint: "https://appleid.apple.com/auth/token",
      revocation_endpoint: "https://appleid.apple.com/auth/revoke",
      jwks_uri: "https://appleid.apple.com/auth/keys",
      response_types_supported: ["code"],
      response_modes_supported: ["query", "fragment", "form_post"],
      subject_types_supported: ["pairwise"],
      id_token_signing_alg_values_supported: ["RS256"],
      scopes_supported: ["openid", "email", "name"],
      token_endpoint_auth_methods_supported: ["client_secret_post"],
    },
    sendSecret: "post",
    claims: {
      sub: "000313.c9720f41e9434e18987a.1218",
      at_hash: "CkaUPjk4MJinaAq6Z0tGUA",
      email: "test@privaterelay.appleid.com",
      email_verified: "true",
      is_private_email: "true",
      auth_time: 1_234_345_345,
    },
  },
  {
    name: "Auth0, whose identifier ends with a slash",
    source: "https://auth0.com/docs/get-started/applications/configure-applications-with-oidc-discovery",
    issuer: "https://my-domain.auth0.com/",
    document: {
      authorization_endpoint: "https://my-domain.auth0.com/authorize",
      token_endpoint: "https://my-domain.auth0.com/oauth/token",
      userinfo_endpoint: "https://my-domain.auth0.com/userinfo",
      jwks_uri: "https://my-domain.auth0.com/.well-known/jwks.json",
      end_session_endpoint: "https://my-domain.auth0.com/oidc/logout",
      scopes_supported: ["openid", "profile", "offline_access", "name", "email"],
      response_types_supported: ["code", "token", "id_token"],
      code_challenge_methods_supported: ["S256", "plain"],
      id_token_signing_alg_values_supported: ["HS256", "RS256", "PS256"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "private_key_jwt"],
    },
    claims: { sub: "auth0|123456", given_name: "John", nickname: "johndoe", sid: "jYrRSdYUYJZXdzy3lzTDbjQ" },
  },
];

/** An issuer that has nothing but what it publishes. */
class Published implements HttpClient {
  nonce = "";
  readonly #provider: Provider;
  readonly #pair = generateKeyPair("RS256", { extractable: true });

  constructor(provider: Provider) {
    this.#provider = provider;
  }

  async fetch(input: string | URL, init?: RequestInit): Promise<Response> {
    const { issuer, document } = this.#provider;
    const at = String(input);
    if (at === `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`) {
      return Response.json({ issuer, ...document });
    }
    if (at === document.jwks_uri) {
      const key = { ...(await exportJWK((await this.#pair).publicKey)), kid: "one", use: "sig", x5c: ["MIIC"] };
      return Response.json({ keys: [key] });
    }
    if (at !== document.token_endpoint) return new Response("", { status: 404 });
    const sent = new Request(at, init);
    const isPosted = new URLSearchParams(await sent.text()).get("client_secret") === secret;
    const isBasic = sent.headers.get("authorization")?.startsWith("Basic ") === true;
    const methods = document["token_endpoint_auth_methods_supported"] as readonly string[];
    const isAuthenticated =
      (isPosted && methods.includes("client_secret_post")) || (isBasic && methods.includes("client_secret_basic"));
    if (!isAuthenticated) return Response.json({ error: "invalid_client" }, { status: 400 });
    return Response.json({
      access_token: "ya29.a0",
      expires_in: 3599,
      scope: "openid",
      token_type: "Bearer",
      id_token: await this.#idToken(),
    });
  }

  async #idToken(): Promise<string> {
    const { issuer, claims } = this.#provider;
    return new SignJWT({ ...claims, nonce: this.nonce })
      .setProtectedHeader({ alg: "RS256", typ: "JWT", kid: "one" })
      .setIssuer(issuer)
      .setAudience("shop")
      .setIssuedAt()
      .setExpirationTime("1h")
      .sign((await this.#pair).privateKey);
  }
}

it.each(providers)("signs a user in at $name", async (provider) => {
  const http = new Published(provider);
  const issuer = Oidc.issuer(provider.issuer, {
    clientId: "shop",
    clientSecret: secret,
    http,
    ...(provider.sendSecret === undefined ? {} : { sendSecret: provider.sendSecret }),
  });
  const sessions = session();
  const app = Test.app([
    ...Oidc.routes(issuer, {
      origin: "https://shop.example",
      keys,
      sessions,
      onSignIn: ({ claims, tokens }) => ({ user: `${claims.iss} ${claims.sub}`, tokens }),
    }),
    get(Path.root, { inputs: { session: sessions.optional }, returns: Returns.text }, ({ session }) => {
      return session?.data.user ?? "nobody";
    }),
  ]);
  const browser = Test.browser(app);
  const begun = await browser.call("GET", "/sign-in");
  const asked = new URL(begun.headers.get("location") ?? "");
  expect(asked.href.startsWith(`${provider.document.authorization_endpoint}?`)).toBe(true);
  http.nonce = asked.searchParams.get("nonce") ?? "";
  const answer = { state: asked.searchParams.get("state") ?? "", code: "4/0AfJohXl", ...provider.answer };
  const back = await browser.call("GET", `/sign-in/callback?${new URLSearchParams(answer).toString()}`);
  expect([back.status, back.headers.get("location")]).toEqual([303, "/"]);
  expect((await browser.call("GET", "/")).body).toBe(`${provider.issuer} ${String(provider.claims["sub"])}`);
});

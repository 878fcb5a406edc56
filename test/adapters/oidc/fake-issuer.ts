/** An issuer with the responses of a test, without sockets: the client calls it directly. */
import { Keys, Path, Returns, Sessions, Test, get } from "usher-http";
import type { HttpClient, Route, TestAnswer, TestBrowser } from "usher-http";
import { Oidc } from "usher-http/oidc";
import type { OidcIssuerOptions, OidcRoutesOptions } from "usher-http/oidc";
import * as v from "valibot";

export const base64url = (text: string | Uint8Array): string => Buffer.from(text).toString("base64url");
const es256 = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

type Claims = { readonly [claim: string]: unknown };

/** The changes that a test makes to an issuer. */
export interface Answers {
  /** Members of the discovery document. */
  description?: Claims;
  /** Changes the ID token's claims. */
  claims?: (claims: Claims) => Claims;
  /** Changes the ID token's header. */
  header?: (header: Claims) => Claims;
  /** Makes the signature. */
  sign?: (content: string) => Promise<string> | string;
  /** Members of the token endpoint's response. */
  token?: Claims;
  /** Responses instead of an endpoint's, by its path. */
  instead?: { readonly [path: string]: () => Response | Promise<Response> };
}

const { privateKey, publicKey } = await crypto.subtle.generateKey(es256, true, ["sign", "verify"]);
const jwk = { ...(await crypto.subtle.exportKey("jwk", publicKey)), kid: "one", alg: "ES256", use: "sig" };

export class FakeIssuer implements HttpClient {
  readonly url: string;
  answers: Answers = {};
  /** The paths that were called, in order. */
  readonly calls: string[] = [];
  /** The fields of the last call of the token endpoint. */
  sent = new URLSearchParams();
  nonce = "";
  #tokens = 0;

  constructor(url = "https://issuer.example") {
    this.url = url;
  }

  async fetch(input: string | URL, init: RequestInit = {}): Promise<Response> {
    const { pathname } = new URL(input);
    this.calls.push(pathname);
    const instead = this.answers.instead?.[pathname];
    if (instead !== undefined) return instead();
    if (pathname === "/.well-known/openid-configuration") return Response.json(this.#description());
    if (pathname === "/jwks") return Response.json({ keys: [jwk] });
    if (pathname === "/me") return Response.json({ sub: "ada", email: "ada@example.com" });
    this.sent = new URLSearchParams(init.body as URLSearchParams);
    return Response.json(await this.#token());
  }

  count(path: string): number {
    return this.calls.filter((call) => call === path).length;
  }

  #description(): Claims {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/auth?keep=1`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/jwks`,
      userinfo_endpoint: `${this.url}/me`,
      end_session_endpoint: `${this.url}/end`,
      id_token_signing_alg_values_supported: ["ES256", "none", "HS256"],
      authorization_response_iss_parameter_supported: true,
      ...this.answers.description,
    };
  }

  async #token(): Promise<Claims> {
    this.#tokens++;
    return {
      access_token: `access-${this.#tokens}`,
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: `refresh-${this.#tokens}`,
      id_token: await this.idToken(),
      ...this.answers.token,
    };
  }

  async idToken(): Promise<string> {
    const { claims = (all) => all, header = (all) => all, sign = signEs256 } = this.answers;
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: this.url, sub: "ada", aud: "shop", iat: now, exp: now + 300, nonce: this.nonce };
    const head = base64url(JSON.stringify(header({ alg: "ES256", kid: "one" })));
    const content = `${head}.${base64url(JSON.stringify(claims(all)))}`;
    return `${content}.${await sign(content)}`;
  }
}

export async function signEs256(content: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.sign(es256, privateKey, Buffer.from(content))));
}

export const keys = Keys.ring("a secret of the tests, which is 32 bytes and more");
export const shape = v.object({ user: v.string(), tokens: v.optional(Oidc.tokens) });
export type Data = v.InferOutput<typeof shape>;

export const session = (store = Sessions.memory()): Sessions<Data> =>
  Sessions.make({ store, shape, idleMs: 3_600_000, absoluteMs: 36_000_000 });

/** A shop whose users sign in at a fake issuer. */
export class Shop {
  readonly issuer: FakeIssuer;
  readonly store = Sessions.memory();
  readonly sessions = session(this.store);
  readonly routes: readonly Route[];
  readonly app: Test.TestApp;

  constructor(
    given: Partial<OidcRoutesOptions<Data, string>> = {},
    issuerOptions: Partial<OidcIssuerOptions> = {},
    url?: string,
  ) {
    this.issuer = new FakeIssuer(url);
    const issuer = Oidc.issuer(this.issuer.url, { clientId: "shop", http: this.issuer, ...issuerOptions });
    const { sessions } = this;
    const token = Oidc.accessToken([issuer], sessions);
    const again = Oidc.accessToken([issuer], sessions);
    this.routes = [
      ...Oidc.routes<Data, string>(issuer, {
        origin: "https://shop.example",
        keys,
        sessions,
        onSignIn: ({ claims, tokens }) => ({ user: claims.sub, tokens }),
        ...given,
      }),
      get(Path.root, { inputs: { session: sessions.optional }, returns: Returns.text }, ({ session }) => {
        return session?.data.user ?? "nobody";
      }),
      get(Path.of("token"), { inputs: { token }, returns: Returns.text }, ({ token }) => token ?? "none"),
      get(Path.of("token", "again"), { inputs: { again }, returns: Returns.text }, ({ again }) => again ?? "none"),
    ];
    this.app = Test.app(this.routes);
  }

  browser(): TestBrowser {
    return Test.browser(this.app);
  }

  /** The issuer's request, when a browser begins to sign in. */
  async begin(browser: TestBrowser, target = "/sign-in"): Promise<URLSearchParams> {
    const answer = await browser.call("GET", target);
    const { searchParams } = new URL(answer.headers.get("location") ?? "");
    this.issuer.nonce = searchParams.get("nonce") ?? "";
    return searchParams;
  }

  /** The address to which the issuer sends the browser back. */
  callback(asked: URLSearchParams, changes: { readonly [name: string]: string } = {}): string {
    const parameters = { state: asked.get("state") ?? "", code: "c0de", iss: this.issuer.url, ...changes };
    return `/sign-in/callback?${new URLSearchParams(parameters).toString()}`;
  }

  async signIn(browser: TestBrowser, target = "/sign-in"): Promise<TestAnswer> {
    return browser.call("GET", this.callback(await this.begin(browser, target)));
  }
}

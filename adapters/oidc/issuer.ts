import type {
  AuthorizationServer,
  Client,
  ClientAuth,
  CryptoKey,
  JWKSCacheInput,
  allowInsecureRequests,
  customFetch,
} from "oauth4webapi";
import { make as httpClient } from "../../src/client/http-client.ts";
import type { HttpClient } from "../../src/client/http-client.ts";
import { isObject, isTexts, needs, needsObject, needsOptions, needsText, needsTexts } from "../../src/arguments.ts";
import { withoutDeadline } from "../../src/doors/logging.ts";
import { retryAfterMs } from "../../src/doors/http.ts";
import { IssuerAway, isUnknownClient, reading, refusalOf } from "./failures.ts";
import { askIssuer, awayBecause, isFailure, mayBeTaken } from "./issuer-answer.ts";
import { oauthPackage } from "./oauth.ts";
import type { OAuth } from "./oauth.ts";
import { Rests, maxRetryAfterMs } from "./rests.ts";

/** An issuer, with this application's registration there; made by `Oidc.issuer`. */
export interface OidcIssuer {
  /** The issuer's identifier, as it was given. */
  readonly url: string;
  /** The URL of its description, for `openIdConnect` of `Dep.credential`. */
  readonly discoveryUrl: string;
}

/** The options of an issuer. */
export interface OidcIssuerOptions {
  /** The application's id at the issuer. */
  readonly clientId: string;
  /**
   * The application's secret there, of 16 bytes at least where the issuer is not on this machine; without it, and without
   * `clientKey`, the client is a public one. To change the secret, give a list, the newest first: where the issuer refuses one with
   * `invalid_client`, the next is sent.
   */
  readonly clientSecret?: string | readonly string[];
  /** How the secret is sent: in `Authorization` (`"basic"`, by default) or in the body (`"post"`). */
  readonly sendSecret?: "basic" | "post";
  /** In place of a secret: a private key that signs each request for tokens (`private_key_jwt`), with its id at the issuer. */
  readonly clientKey?: { readonly key: CryptoKey; readonly kid?: string };
  /** What the application wants to know: `["openid"]` by default. A refresh token often needs `"offline_access"`. */
  readonly scopes?: readonly string[];
  /** How far the issuer's clock may be from this one, in milliseconds: 30,000 by default. */
  readonly clockToleranceMs?: number;
  /** How long the issuer's description is used before it is read again, in milliseconds: ten minutes by default. */
  readonly freshMs?: number;
  /**
   * Whether the issuer gives a new refresh token at each refresh, and ends the sign-in where the old one is sent again: `true` by
   * default. Then a refresh token whose answer was lost is not sent again, and the user has to sign in. With `false` it is.
   */
  readonly rotates?: boolean;
  /** Calls the issuer. By default a client of its own, with five seconds for each call and 256 KiB for each answer. */
  readonly http?: HttpClient;
}

/** How long a description may be used while the issuer is away. */
const staleMs = 24 * 3_600_000;
/** How long an older description is used before the issuer is asked again. */
const staleRestMs = 30_000;

/**
 * An issuer of sign-ins: an OpenID Provider at which this application is registered. Its description is read at the first
 * sign-in and not before, so a server starts while the issuer is away. It is kept for `freshMs`, and up to a day while the
 * issuer cannot be reached.
 *
 * @param url The issuer's identifier, exactly as it names itself. It is https, except for `localhost`.
 * @throws TypeError for a wrong option. No error quotes a secret.
 * @example
 * ```ts
 * const accounts = Oidc.issuer("https://accounts.example", { clientId: "shop", clientSecret: env.OIDC_SECRET });
 * ```
 */
export function issuer(url: string, options: OidcIssuerOptions): OidcIssuer {
  return new IssuerClient(url, options);
}

/** The inside of an `OidcIssuer`. */
export function clientOf(issuer: unknown, at: string): IssuerClient {
  if (issuer instanceof IssuerClient) return issuer;
  throw new TypeError(`${at} must be made by Oidc.issuer`);
}

/** Whether a URL is one of this machine, where http is safe. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.[0-9]{1,3}){3}$/.test(hostname);
}

/** What the package asks of `fetch`. */
interface Call {
  readonly method: string;
  readonly headers: { readonly [name: string]: string };
  readonly redirect: "manual";
  readonly body?: URLSearchParams | undefined;
}

/** What every call of `oauth4webapi` gets. */
export interface IssuerCalls {
  readonly [customFetch]: (url: string, call: Call) => Promise<Response>;
  readonly [allowInsecureRequests]: boolean;
}

/** How a call went. */
export interface SentCall {
  /** Whether it was made. */
  wasCalled: boolean;
  /** Whether the issuer may have acted on it. */
  mayBeTaken: boolean;
  /** How long the endpoint rests now. */
  againMs: number;
}

export class IssuerClient implements OidcIssuer {
  readonly url: string;
  readonly discoveryUrl: string;
  readonly scopes: readonly string[];
  readonly clientId: string;
  readonly #clockToleranceMs: number;
  readonly #address: URL;
  // Private, so that no log line, inspection or JSON of this object has a secret.
  readonly #authentications: readonly MakeAuthentication[];
  /** The place of the one that the issuer accepted last. */
  #accepted = 0;
  /** Whether a refresh token must not be sent twice. */
  readonly rotates: boolean;
  readonly #http: HttpClient;
  readonly #rests = new Rests();
  readonly #freshMs: number;
  #description: { readonly metadata: AuthorizationServer; readonly readAt: number } | undefined = undefined;
  #askAgainAt = 0;
  #jwks: JWKSCacheInput = {};

  constructor(url: string, options: OidcIssuerOptions) {
    this.#address = issuerUrl(url);
    needsOptions(
      "Oidc.issuer",
      options,
      "clientId clientSecret sendSecret clientKey scopes clockToleranceMs freshMs rotates http",
    );
    const {
      clientId,
      scopes = ["openid"],
      clockToleranceMs = 30_000,
      freshMs = 600_000,
      rotates = true,
      http,
    } = options;
    needsText("Oidc.issuer: clientId", clientId);
    needs(clientId !== "", "Oidc.issuer: clientId", clientId, "empty");
    needsTexts("Oidc.issuer: scopes", scopes);
    // RFC 6749 §3.3: a scope is printable ASCII without spaces, quotes and backslashes.
    const wrong = scopes.findIndex((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
    if (wrong !== -1) throw new TypeError(`Oidc.issuer: scopes[${wrong}] is not a scope`);
    if (!scopes.includes("openid")) throw new TypeError('Oidc.issuer: scopes must have "openid"');
    const isTolerance = typeof clockToleranceMs === "number" && clockToleranceMs >= 0 && clockToleranceMs <= 600_000;
    needs(isTolerance, "Oidc.issuer: clockToleranceMs", clockToleranceMs, "milliseconds, from 0 to 600,000");
    const isFresh = typeof freshMs === "number" && freshMs > 0 && freshMs <= staleMs;
    needs(isFresh, "Oidc.issuer: freshMs", freshMs, "milliseconds, more than 0 and at most a day");
    needs(typeof rotates === "boolean", "Oidc.issuer: rotates", rotates, "a boolean");
    const isClient = http === undefined || (isObject(http) && typeof http.fetch === "function");
    needs(isClient, "Oidc.issuer: http", http, "made by HttpClient.make");
    this.url = url;
    this.discoveryUrl = `${this.#address.href.replace(/\/$/, "")}/.well-known/openid-configuration`;
    this.scopes = [...new Set(scopes)];
    this.clientId = clientId;
    this.#clockToleranceMs = clockToleranceMs;
    this.#authentications = authenticationsOf(options, isLoopback(this.#address) ? 1 : minSecretBytes);
    this.#freshMs = freshMs;
    this.rotates = rotates;
    this.#http = http ?? httpClient({ timeoutMs: 5000, maxBody: 262_144 });
    oauthPackage.begin("Oidc.issuer");
  }

  /** The package that makes the calls. */
  oauth(): OAuth | Promise<OAuth> {
    return oauthPackage.loaded ?? oauthPackage.load("Oidc.issuer");
  }

  /** The registration as the package takes it. */
  clientFor(oauth: OAuth): Client {
    return { client_id: this.clientId, [oauth.clockTolerance]: Math.ceil(this.#clockToleranceMs / 1000) };
  }

  /**
   * Runs a call of the token endpoint with the secret that was accepted last. Where the issuer does not know the client by it, each
   * other one is tried, the newest first. That spends no code and no refresh token (RFC 6749 §5.2).
   */
  async authenticated<T>(
    oauth: OAuth,
    { token_endpoint: endpoint }: AuthorizationServer,
    call: (authentication: ClientAuth) => Promise<T>,
  ): Promise<T> {
    const accepted = this.#accepted;
    const others = [...this.#authentications.keys()].filter((place) => place !== accepted);
    let refused: unknown;
    for (const place of [accepted, ...others]) {
      try {
        const authentication = this.#authentications[place] as MakeAuthentication;
        const result = await call(authentication(oauth));
        this.#accepted = place;
        return result;
      } catch (thrown) {
        if (!isUnknownClient(thrown)) throw thrown;
        refused ??= thrown;
      }
    }
    // No other request has another secret.
    if (endpoint !== undefined) this.#rests.of(new URL(endpoint)).failed(Date.now(), 0);
    throw refused;
  }

  /** What `oauth4webapi` gets for one call. `sent` learns how it went. */
  calls(oauth: OAuth, sent: SentCall = { wasCalled: false, mayBeTaken: false, againMs: 0 }): IssuerCalls {
    const isInsecure = this.#address.protocol === "http:";
    return {
      [oauth.allowInsecureRequests]: isInsecure,
      [oauth.customFetch]: async (address, { method, headers, redirect, body = null }) => {
        const url = new URL(address);
        if (url.protocol !== "https:" && !(isInsecure && isLoopback(url))) {
          throw new IssuerAway("an endpoint of the issuer is not https");
        }
        const rest = this.#rests.of(url);
        rest.begin(Date.now());
        sent.wasCalled = true;
        // A code and a refresh token are spent once, and the description is for every request: the deadline of one ends no call.
        const answer = await withoutDeadline(() => askIssuer(this.#http, url, { method, headers, redirect, body }));
        const now = Date.now();
        if (isFailure(answer))
          rest.failed(now, answer.headers ? retryAfterMs(answer.headers, now, maxRetryAfterMs) : 0);
        else rest.worked();
        sent.againMs = rest.leftMs(now);
        if (mayBeTaken(answer)) sent.mayBeTaken = true;
        if (answer.text === undefined) throw new IssuerAway(awayBecause(answer), sent.againMs);
        const { status, text } = answer;
        return new Response(text === "" ? null : text, { status, headers: answer.headers });
      },
    };
  }

  /** The keys of the issuer: a copy, since Workers may not share what a request made. Give it back by `keepKeys`. */
  get keys(): JWKSCacheInput {
    return structuredClone(this.#jwks);
  }

  keepKeys(keys: JWKSCacheInput): void {
    this.#jwks = keys;
  }

  /** The issuer's description. Throws `IssuerAway` where it cannot be had. */
  // Values are kept and not promises: on Workers a request may not await another request's promise.
  async metadata(): Promise<AuthorizationServer> {
    const now = Date.now();
    const known = this.#description;
    // A clock may be set back: what is far ahead of it is over.
    const age = known === undefined ? Number.POSITIVE_INFINITY : Math.abs(now - known.readAt);
    const restsMs = this.#askAgainAt - now;
    const isResting = restsMs > 0 && restsMs <= staleRestMs;
    if (known !== undefined && (age < this.#freshMs || (isResting && age < staleMs))) return known.metadata;
    // While one request asks, others use what is there.
    if (age < staleMs) this.#askAgainAt = now + staleRestMs;
    try {
      const metadata = await this.#discover();
      this.#description = { metadata, readAt: now };
      this.#askAgainAt = 0;
      return metadata;
    } catch (thrown) {
      // Another request may have read it meanwhile.
      const last = this.#description;
      if (last !== undefined && now - last.readAt < staleMs) return last.metadata;
      const rest = this.#rests.of(new URL(this.discoveryUrl));
      // Its call worked, and what it says is wrong.
      if (rest.leftMs(Date.now()) === 0) rest.failed(Date.now(), 0);
      throw new IssuerAway(`its description: ${refusalOf(thrown).detail}`, rest.leftMs(Date.now()));
    }
  }

  async #discover(): Promise<AuthorizationServer> {
    const oauth = await this.oauth();
    const response = await oauth.discoveryRequest(this.#address, this.calls(oauth));
    return reading(oauth.processDiscoveryResponse(this.#address, response));
  }

  /** An endpoint of the description to which a browser is sent; undefined where there is none. */
  endpoint(metadata: AuthorizationServer, name: "authorization_endpoint" | "end_session_endpoint"): URL | undefined {
    const text = metadata[name];
    const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
    const isAllowed = url?.protocol === "https:" || (url !== undefined && this.#mayBeHttp(url));
    return isAllowed ? url : undefined;
  }

  #mayBeHttp(url: URL): boolean {
    return url.protocol === "http:" && this.#address.protocol === "http:" && isLoopback(url);
  }
}

/** Whether two texts are the identifier of one issuer: discovery compares them as URLs. */
export function isSameIssuer(one: string, other: string): boolean {
  return one === other || (URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href);
}

function issuerUrl(text: string): URL {
  needsText("Oidc.issuer: its URL", text);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSecure = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url));
  if (url === undefined || !isSecure) throw new TypeError("Oidc.issuer: its URL must be https, or http of localhost");
  // OpenID Connect Discovery §3: an issuer has no query and no fragment.
  const isPlain = url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  if (!isPlain) throw new TypeError("Oidc.issuer: its URL must have no query, fragment, user or password");
  return url;
}

/** RFC 6749 §10.10: what an attacker must not guess has 128 bits. */
const minSecretBytes = 16;

/** How the client proves that it is the registered one. */
type MakeAuthentication = (oauth: OAuth) => ClientAuth;

function authenticationsOf(
  { clientSecret, sendSecret = "basic", clientKey }: OidcIssuerOptions,
  minBytes: number,
): readonly MakeAuthentication[] {
  if (sendSecret !== "basic" && sendSecret !== "post") {
    throw new TypeError('Oidc.issuer: sendSecret must be "basic" or "post"');
  }
  if (clientKey !== undefined) {
    needsObject("Oidc.issuer: clientKey", clientKey);
    if (clientSecret !== undefined) throw new TypeError("Oidc.issuer: it has a clientSecret and a clientKey: give one");
    const { key, kid } = clientKey;
    if (kid !== undefined) needsText("Oidc.issuer: clientKey.kid", kid);
    const isPrivate = key instanceof globalThis.CryptoKey && key.type === "private";
    if (!isPrivate) throw new TypeError("Oidc.issuer: clientKey.key must be a private CryptoKey");
    return [({ PrivateKeyJwt }) => PrivateKeyJwt(kid === undefined ? key : { key, kid })];
  }
  if (clientSecret === undefined) return [({ None }) => None()];
  const secrets = typeof clientSecret === "string" ? [clientSecret] : clientSecret;
  const areTexts = isTexts(secrets) && secrets.length > 0;
  needs(areTexts, "Oidc.issuer: clientSecret", clientSecret, "a text, or a list of texts, one at least");
  // An unset variable of the environment is often an empty text.
  const short = secrets.findIndex((secret) => new TextEncoder().encode(secret).byteLength < minBytes);
  if (short !== -1) {
    const which = typeof clientSecret === "string" ? "clientSecret" : `clientSecret[${short}]`;
    throw new TypeError(`Oidc.issuer: ${which} ${minBytes === 1 ? "is empty" : `is shorter than ${minBytes} bytes`}`);
  }
  const by = sendSecret === "basic" ? "ClientSecretBasic" : "ClientSecretPost";
  return secrets.map((secret) => (oauth) => oauth[by](secret));
}

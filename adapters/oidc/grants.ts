import type {
  AuthorizationServer,
  IDToken,
  JWKSCacheInput,
  TokenEndpointResponse,
  UserInfoResponse,
} from "oauth4webapi";
import { current, log } from "../../src/doors/logging.ts";
import type { Attempt } from "./attempts.ts";
import { areKeysAway, isRefusedGrant, lacksKey, reading } from "./failures.ts";
import type { IssuerCalls, IssuerClient, SentCall } from "./issuer.ts";
import type { OAuth } from "./oauth.ts";
import type { OidcTokens } from "./tokens.ts";

/** The claims of an ID token that was verified (OpenID Connect Core §2), and whatever else the issuer says. */
export interface OidcClaims {
  /** The issuer's identifier. */
  readonly iss: string;
  /** Who signed in: unique at the issuer, and never given to another user. */
  readonly sub: string;
  /** For whom the token is: this application's `clientId`, and maybe others. */
  readonly aud: string | readonly string[];
  /** When the token expires, in seconds since 1970. */
  readonly exp: number;
  /** When the token was made, in seconds since 1970. */
  readonly iat: number;
  /** When the user proved who they are, in seconds since 1970. */
  readonly auth_time?: number;
  /** How strongly they did. */
  readonly acr?: string;
  /** Anything else: read it by a schema, since the issuer decides what it is. */
  readonly [claim: string]: unknown;
}

/** What an issuer gave for a code. */
export interface Granted {
  readonly claims: OidcClaims;
  readonly tokens: OidcTokens;
  readonly userInfo: { readonly [claim: string]: unknown } | undefined;
}

/** What a sign-in needs in addition to the code. */
export interface GrantOptions {
  readonly redirectUri: string;
  readonly maxAgeMs: number | undefined;
  readonly userInfo: boolean;
}

/**
 * The tokens for the parameters of an authorization response. Throws what `refusalOf` reads: for a wrong `iss` or `state`, an error
 * of the issuer, and an ID token that does not hold.
 *
 * @param sent Learns how its last call went.
 */
export async function grantOfCode(
  issuer: IssuerClient,
  parameters: URLSearchParams,
  attempt: Attempt,
  { redirectUri, maxAgeMs, userInfo }: GrantOptions,
  sent: SentCall,
): Promise<Granted> {
  const oauth = await issuer.oauth();
  const server = await issuer.metadata();
  const client = issuer.clientFor(oauth);
  const calls = issuer.calls(oauth, sent);
  // RFC 9207: `iss` must be this issuer's, and be there where the issuer says that it sends it.
  const checked = oauth.validateAuthResponse(server, client, parameters, attempt.state);
  const { verifier, nonce } = attempt;
  const expected = {
    expectedNonce: nonce,
    requireIdToken: true,
    ...(maxAgeMs === undefined ? {} : { maxAge: Math.floor(maxAgeMs / 1000) }),
  };
  const { response, body } = await issuer.authenticated(oauth, server, async (by) => {
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      by,
      checked,
      redirectUri,
      verifier,
      calls,
    );
    return { response, body: await oauth.processAuthorizationCodeResponse(server, client, response, expected) };
  });
  await checkSignature(oauth, issuer, server, response, calls);
  const claims = oauth.getValidatedIdTokenClaims(body) as IDToken;
  const info = userInfo ? await userInfoOf(oauth, issuer, server, body.access_token, claims.sub, calls) : undefined;
  return { claims, tokens: tokensOf(server, claims.sub, body), userInfo: info };
}

/** The end of a refresh. `thrown` is what `refusalOf` reads, and `againMs` how long the issuer then rests. */
export type RefreshEnd =
  | { readonly at: "given"; readonly tokens: OidcTokens }
  /** The issuer takes the refresh token no more. */
  | { readonly at: "refused" }
  /** The issuer did not take it: it may be sent again. */
  | { readonly at: "failed"; readonly thrown: unknown; readonly againMs: number; readonly wasCalled: boolean }
  /** The issuer may have taken it, and what it gave for it is lost. */
  | { readonly at: "lost"; readonly thrown: unknown; readonly againMs: number };

/** Newer tokens for a refresh token. */
export async function grantOfRefresh(
  issuer: IssuerClient,
  tokens: OidcTokens & { readonly refreshToken: string },
): Promise<RefreshEnd> {
  const sent: SentCall = { wasCalled: false, mayBeTaken: false, againMs: 0 };
  try {
    const newer = await refresh(issuer, tokens, sent);
    return newer === undefined ? { at: "refused" } : { at: "given", tokens: newer };
  } catch (thrown) {
    if (isRefusedGrant(thrown)) return { at: "refused" };
    return { at: sent.mayBeTaken && issuer.rotates ? "lost" : "failed", thrown, ...sent };
  }
}

async function refresh(
  issuer: IssuerClient,
  tokens: OidcTokens & { readonly refreshToken: string },
  sent: SentCall,
): Promise<OidcTokens | undefined> {
  const oauth = await issuer.oauth();
  const server = await issuer.metadata();
  const client = issuer.clientFor(oauth);
  const calls = issuer.calls(oauth, sent);
  const { response, body } = await issuer.authenticated(oauth, server, async (by) => {
    const response = await oauth.refreshTokenGrantRequest(server, client, by, tokens.refreshToken, calls);
    return { response, body: await oauth.processRefreshTokenResponse(server, client, response) };
  });
  const claims = oauth.getValidatedIdTokenClaims(body);
  const isVerified = claims !== undefined && (await isVerifiedNow(oauth, issuer, server, response));
  // OpenID Connect Core §12.2: a refresh is for the same user.
  if (claims !== undefined && claims.sub !== tokens.subject) return undefined;
  const { idToken, refreshToken, scope } = tokens;
  const newer = { refresh_token: refreshToken, scope, ...body };
  return tokensOf(server, tokens.subject, isVerified ? newer : { ...newer, id_token: idToken });
}

/**
 * Whether the issuer's keys verify a new ID token. A refresh needs none: where its key cannot be had, the older one is kept. The
 * refresh token is spent by now, and the next one would be lost.
 */
async function isVerifiedNow(
  oauth: OAuth,
  issuer: IssuerClient,
  server: AuthorizationServer,
  response: Response,
): Promise<boolean> {
  try {
    await checkSignature(oauth, issuer, server, response, issuer.calls(oauth));
    return true;
  } catch (thrown) {
    if (!lacksKey(thrown) && !areKeysAway(thrown)) throw thrown;
    const message = "the ID token of a refresh could not be verified for want of its key, and the older one is kept";
    log({ level: "warn", source: "framework.http", message, fields: {}, context: current() });
    return false;
  }
}

/** By the issuer's keys, although the token was received over TLS: so an algorithm `none` or one of a shared secret never passes. */
async function checkSignature(
  oauth: OAuth,
  issuer: IssuerClient,
  server: AuthorizationServer,
  response: Response,
  calls: IssuerCalls,
): Promise<void> {
  const { keys } = issuer;
  const before = readAtOf(keys);
  try {
    await checkBy(oauth, keys, issuer, server, response, calls);
  } catch (thrown) {
    // The package fetches no keys again in the minute after it did, and the issuer may sign by a new one since.
    if (!lacksKey(thrown) || before === undefined || readAtOf(keys) !== before) throw thrown;
    await checkBy(oauth, {}, issuer, server, response, calls);
  }
}

async function checkBy(
  oauth: OAuth,
  keys: JWKSCacheInput,
  issuer: IssuerClient,
  server: AuthorizationServer,
  response: Response,
  calls: IssuerCalls,
): Promise<void> {
  // The package remembers keys by the description's identity; a copy keeps them apart from other requests.
  await reading(
    oauth.validateApplicationLevelSignature({ ...server }, response, { ...calls, [oauth.jwksCache]: keys }),
  );
  issuer.keepKeys(keys);
}

/** The time of the last fetch of the keys; undefined before the first one. */
function readAtOf(keys: JWKSCacheInput): number | undefined {
  return "uat" in keys ? keys.uat : undefined;
}

async function userInfoOf(
  oauth: OAuth,
  issuer: IssuerClient,
  server: AuthorizationServer,
  accessToken: string,
  subject: string,
  calls: IssuerCalls,
): Promise<UserInfoResponse> {
  const client = issuer.clientFor(oauth);
  const response = await oauth.userInfoRequest(server, client, accessToken, calls);
  return oauth.processUserInfoResponse(server, client, subject, response);
}

type TokenBody = Pick<TokenEndpointResponse, "access_token" | "expires_in" | "id_token" | "refresh_token"> & {
  readonly scope?: string | undefined;
};

function tokensOf(server: AuthorizationServer, subject: string, body: TokenBody): OidcTokens {
  const { access_token: accessToken, expires_in: seconds, id_token: idToken = "", refresh_token: refreshToken } = body;
  // An issuer may say any number; a date ends in the year 9999.
  const expiresAt = seconds === undefined ? undefined : new Date(Date.now() + Math.min(seconds, 1e9) * 1000);
  return {
    issuer: server.issuer,
    subject,
    idToken,
    accessToken,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(body.scope === undefined ? {} : { scope: body.scope }),
  };
}

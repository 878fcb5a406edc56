import { isObject, needs } from "../../src/arguments.ts";
import type { Dep } from "../../src/inputs/dep.ts";
import { withoutDeadline } from "../../src/logging/context.ts";
import { OldestFirst } from "../../src/oldest-first.ts";
import type { Refusal } from "../../src/refusals.ts";
import { isWorkers } from "../../src/runtime.ts";
import { amend } from "../../src/security/session-store.ts";
import type { Session, Sessions } from "../../src/security/sessions.ts";
import { IssuerAway, isRefusedGrant, refusalOf, signInUnavailable, unavailable } from "./failures.ts";
import { grantOfRefresh } from "./grants.ts";
import { clientOf, isSameIssuer } from "./issuer.ts";
import type { IssuerClient, OidcIssuer } from "./issuer.ts";
import type { OidcTokens } from "./tokens.ts";

/** Session data that may have tokens. */
interface WithTokens {
  readonly tokens?: OidcTokens | undefined;
}

/** A token that expires sooner is replaced: the call that it is for takes time. */
const leewayMs = 10_000;
/** How many refresh tokens that were spent are remembered, with what the issuer gave for them. */
const maxSpent = 1000;
/** On Workers a refresh of another request that takes longer has died with that request. */
const maxRefreshMs = 15_000;
const pollMs = 20;
/** More than the waits of the longest refresh. */
const maxSteps = 1000;
/** How long a spent token is remembered: another request may have read the session before. */
const keptMs = 600_000;

/**
 * The access token of the user of the session, for a call to an API. One that has expired is refreshed, and the session updated;
 * requests at the same time wait for one refresh, so that a refresh token that rotates is spent once. It is undefined where
 * no user is signed in, where the session has no `tokens`, and where the issuer ended the sign-in: ask the user to sign in again.
 * While the issuer is away, and the token has expired, the answer is 503 `sign_in_unavailable`.
 *
 * Several processes do not wait for each other: let the issuer take a rotated token again for a few seconds, as most can.
 *
 * @param issuers The issuers that the sign-in has.
 * @param sessions The sessions, whose data has the member `tokens` of the shape `Oidc.tokens`.
 * @example
 * ```ts
 * const token = Oidc.accessToken([accounts], sessions);
 * const orders = get(Path.of("orders"), { inputs: { token }, returns: Returns.text, refuses: [signedOut] }, async ({ token }) => {
 *   if (token === undefined) return refuse(signedOut);
 *   const answer = await api.fetch("/orders", { headers: { authorization: `Bearer ${token}` } });
 *   return answer.text();
 * });
 * ```
 */
export function accessToken<A extends WithTokens>(
  issuers: readonly OidcIssuer[],
  sessions: Sessions<A>,
): Dep<string | undefined, "sign_in_unavailable"> {
  needs(Array.isArray(issuers) && issuers.length > 0, "Oidc.accessToken: its issuers", issuers, "a list, one at least");
  const clients = issuers.map((issuer, i) => clientOf(issuer, `Oidc.accessToken: its issuer ${i}`));
  const isSessions = isObject(sessions) && isObject(sessions.optional);
  needs(isSessions, "Oidc.accessToken: its sessions", sessions, "made by Sessions.make");
  return {
    node: {
      from: [sessions.optional],
      codes: [signInUnavailable],
      compile:
        (_route, [slot = 0]) =>
        (_request, values) => {
          const session = values[slot] as Session<A> | undefined;
          const tokens = session?.data.tokens;
          if (session === undefined || tokens === undefined) return undefined;
          // Without a promise where the token holds.
          return isFresh(tokens) ? tokens.accessToken : refreshed(clients, session, tokens);
        },
    },
  };
}

async function refreshed<A extends WithTokens>(
  clients: readonly IssuerClient[],
  session: Session<A>,
  tokens: OidcTokens,
): Promise<string | undefined | Refusal> {
  const issuer = clients.find(({ url }) => isSameIssuer(url, tokens.issuer));
  if (issuer === undefined) return undefined;
  try {
    const newer = await refreshesOf(issuer).refresh(issuer, tokens);
    if (newer === undefined) return undefined;
    // Of this request's own copy too: what its handler updates must not bring back a token that was spent. The session may have
    // these by now, of another request that waited, newer ones, or none.
    const replaced = (data: A): A => {
      const { tokens: stored } = data;
      const isOlder = stored?.refreshToken === tokens.refreshToken && !isSameAccess(stored, newer);
      return isOlder ? { ...data, tokens: newer } : data;
    };
    await withoutDeadline(() => amend(session, replaced));
    return newer.accessToken;
  } catch (thrown) {
    const refusal = refusalOf(thrown);
    return refusal.code === signInUnavailable ? refusal : unavailable(refusal.detail ?? "");
  }
}

const refreshesByIssuer = /* @__PURE__ */ new WeakMap<IssuerClient, Refreshes>();

/** The refreshes at an issuer: those of several inputs are the same ones. */
function refreshesOf(issuer: IssuerClient): Refreshes {
  let refreshes = refreshesByIssuer.get(issuer);
  if (refreshes === undefined) refreshesByIssuer.set(issuer, (refreshes = new Refreshes()));
  return refreshes;
}

/** One refresh token that was sent to the issuer. */
interface Spent {
  readonly startedAt: number;
  /** What the issuer gave; undefined while it has not answered. */
  outcome?: { readonly tokens: OidcTokens | undefined };
  /** What was thrown where it gave nothing, and may be asked again. */
  failure?: { readonly thrown: unknown };
}

/** The refreshes of this process at one issuer. */
class Refreshes {
  /** By the refresh token, since several requests read the session before the first of them has updated it. */
  readonly #spent = new OldestFirst<Spent>();

  /** Tokens that hold; undefined where the user has to sign in again. */
  async refresh(issuer: IssuerClient, old: OidcTokens): Promise<OidcTokens | undefined> {
    let tokens = old;
    let waited: Spent | undefined;
    for (let steps = 0; steps < maxSteps; steps++) {
      // Who waited for it does not ask the issuer again, one after the other.
      if (waited?.failure !== undefined) throw waited.failure.thrown;
      const { refreshToken } = tokens;
      if (refreshToken === undefined) return undefined;
      const spent = this.#spent.get(refreshToken);
      if (spent === undefined || mayBeSentAgain(spent, refreshToken)) {
        return this.#grant(issuer, { ...tokens, refreshToken });
      }
      waited = spent;
      // It polls, because on Workers a request may not await another request's promise.
      if (spent.outcome === undefined) await new Promise((resolve) => setTimeout(resolve, pollMs));
      else if (spent.outcome.tokens === undefined || isFresh(spent.outcome.tokens)) return spent.outcome.tokens;
      else tokens = spent.outcome.tokens;
    }
    throw new IssuerAway("another request's refresh does not end");
  }

  async #grant(issuer: IssuerClient, tokens: OidcTokens & { readonly refreshToken: string }) {
    const { refreshToken } = tokens;
    const spent: Spent = { startedAt: Date.now() };
    this.#spent.set(refreshToken, spent);
    this.#spent.sweep(2, ({ startedAt }) => spent.startedAt - startedAt > keptMs);
    // One that the issuer has not answered stays, or another request would send it again.
    while (this.#spent.size > maxSpent && this.#spent.oldest?.outcome !== undefined) this.#spent.deleteOldest();
    try {
      spent.outcome = { tokens: await grantOfRefresh(issuer, tokens) };
    } catch (thrown) {
      if (!isRefusedGrant(thrown)) {
        spent.failure = { thrown };
        if (this.#spent.get(refreshToken) === spent) this.#spent.delete(refreshToken);
        throw thrown;
      }
      spent.outcome = { tokens: undefined };
    }
    return spent.outcome.tokens;
  }
}

/** Whether a refresh token that was sent may be sent again: its request has died, or the issuer gives the same one each time. */
function mayBeSentAgain({ startedAt, outcome }: Spent, refreshToken: string): boolean {
  if (outcome === undefined) return isWorkers() && Date.now() - startedAt > maxRefreshMs;
  return outcome.tokens?.refreshToken === refreshToken && !isFresh(outcome.tokens);
}

function isSameAccess(one: OidcTokens | undefined, other: OidcTokens): boolean {
  return one?.accessToken === other.accessToken && one.expiresAt?.getTime() === other.expiresAt?.getTime();
}

function isFresh({ expiresAt }: OidcTokens): boolean {
  return expiresAt === undefined || expiresAt.getTime() - leewayMs > Date.now();
}

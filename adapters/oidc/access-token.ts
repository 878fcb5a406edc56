import { isObject, needs } from "../../src/arguments.ts";
import type { Dep } from "../../src/doors/inputs.ts";
import { withoutDeadline } from "../../src/doors/logging.ts";
import { OldestFirst, isWorkers } from "../../src/doors/base.ts";
import type { Refusal } from "../../src/refusals.ts";
import { amend } from "../../src/doors/security.ts";
import type { Session } from "../../src/doors/security.ts";
import { IssuerAway, refusalOf, signInUnavailable, unavailable } from "./failures.ts";
import { grantOfRefresh } from "./grants.ts";
import type { RefreshEnd } from "./grants.ts";
import { clientOf, isSameIssuer } from "./issuer.ts";
import type { IssuerClient, OidcIssuer } from "./issuer.ts";
import { EndpointRest } from "./rests.ts";
import type { OidcTokens } from "./tokens.ts";

/** Session data that may have tokens. */
interface WithTokens {
  readonly tokens?: OidcTokens | undefined;
}

/** A token that expires sooner is replaced: the call that it is for takes time. */
const leewayMs = 10_000;
/** How many refresh tokens that were spent are remembered, with what the issuer gave for them. */
const maxSent = 1000;
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
export function accessToken<A extends WithTokens, S extends string = never, X = {}>(
  issuers: readonly OidcIssuer[],
  sessions: { readonly optional: Dep<Session<A> | undefined, S, X> },
): Dep<string | undefined, "sign_in_unavailable" | S, X> {
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
    if (!(thrown instanceof FailedRefresh)) return unavailableFor(thrown);
    const { refreshToken, end } = thrown;
    // No process may send it again: where it was spent, the issuer ends the user's sign-in for a second use (RFC 9700 §4.14.2).
    const dropped = (data: A): A => {
      const { tokens: stored } = data;
      const isSpent = stored?.refreshToken === tokens.refreshToken || stored?.refreshToken === refreshToken;
      return stored !== undefined && isSpent ? { ...data, tokens: { ...stored, refreshToken: undefined } } : data;
    };
    if (end.at === "lost") await withoutDeadline(() => amend(session, dropped));
    return unavailableFor(end.thrown, end.againMs);
  }
}

/** A 503, also where a new sign-in would be a 400: this request is not a sign-in. */
function unavailableFor(thrown: unknown, againMs = 0): Refusal {
  const { detail = "" } = refusalOf(thrown);
  return unavailable(detail, thrown instanceof IssuerAway ? thrown.againMs : againMs || undefined);
}

const refreshesByIssuer = /* @__PURE__ */ new WeakMap<IssuerClient, Refreshes>();

/** The refreshes at an issuer: those of several inputs are the same ones. */
function refreshesOf(issuer: IssuerClient): Refreshes {
  let refreshes = refreshesByIssuer.get(issuer);
  if (refreshes === undefined) refreshesByIssuer.set(issuer, (refreshes = new Refreshes()));
  return refreshes;
}

/** One refresh token that was sent to the issuer. */
interface Sent {
  readonly startedAt: number;
  /** How long the issuer is not sent it again, where it did not take it. */
  readonly rest: EndpointRest;
  state: { readonly at: "sent" } | RefreshEnd;
}

/** The refreshes of this process at one issuer. */
class Refreshes {
  /** By the refresh token, since several requests read the session before the first of them has updated it. */
  readonly #sent = new OldestFirst<Sent>();

  /** Tokens that hold; undefined where the user has to sign in again. Throws `FailedRefresh`, and what `refusalOf` reads. */
  async refresh(issuer: IssuerClient, old: OidcTokens): Promise<OidcTokens | undefined> {
    let tokens = old;
    let waitedFor: Sent | undefined;
    for (let steps = 0; steps < maxSteps; steps++) {
      const { refreshToken } = tokens;
      if (refreshToken === undefined) return undefined;
      const sent = this.#sent.get(refreshToken);
      const found = this.#find(refreshToken, waitedFor, issuer);
      if (found === "wait") {
        waitedFor = sent;
        // It polls, because on Workers a request may not await another request's promise.
        await new Promise((resolve) => setTimeout(resolve, pollMs));
      } else if (found === "send" || found?.refreshToken === refreshToken) {
        const isOver = found === "send" || !isFresh(found);
        return isOver ? this.#send(issuer, { ...tokens, refreshToken }, sent) : found;
      } else if (found === undefined || isFresh(found)) return found;
      else tokens = found;
    }
    throw new IssuerAway("another request's refresh does not end");
  }

  /** What a refresh token that was sent gave, if it is not to be sent, or waited for. */
  #find(
    refreshToken: string,
    waitedFor: Sent | undefined,
    { rotates }: IssuerClient,
  ): OidcTokens | "send" | "wait" | undefined {
    const sent = this.#sent.get(refreshToken);
    if (sent === undefined) return "send";
    if (hasDied(sent)) {
      sent.state = { at: rotates ? "lost" : "failed", thrown: diedMeanwhile(), againMs: 0, wasCalled: true };
    }
    const { state, rest } = sent;
    if (state.at === "sent") return "wait";
    if (state.at === "given") return state.tokens;
    if (state.at === "refused") return undefined;
    // Who waited for it does not ask the issuer again, one after the other. A lost one may still be in the session.
    if (state.at === "lost" || sent === waitedFor) throw new FailedRefresh(refreshToken, state);
    rest.check(Date.now());
    return "send";
  }

  async #send(
    issuer: IssuerClient,
    tokens: OidcTokens & { readonly refreshToken: string },
    before: Sent | undefined,
  ): Promise<OidcTokens | undefined> {
    const { refreshToken } = tokens;
    const sent: Sent = {
      startedAt: Date.now(),
      rest: before?.state.at === "failed" ? before.rest : new EndpointRest(),
      state: { at: "sent" },
    };
    this.#sent.set(refreshToken, sent);
    this.#sent.sweep(2, ({ startedAt }) => sent.startedAt - startedAt > keptMs);
    // One that the issuer has not answered stays, or another request would send it again.
    while (this.#sent.size > maxSent && this.#sent.oldest?.state.at !== "sent") this.#sent.deleteOldest();
    const end = await grantOfRefresh(issuer, tokens);
    sent.state = end;
    if (end.at === "given") return end.tokens;
    if (end.at === "refused") return undefined;
    if (end.at === "failed" && end.wasCalled) sent.rest.failed(Date.now(), 0);
    throw new FailedRefresh(refreshToken, end);
  }
}

/** Whether its request has died, which on Workers ends all that it began. */
function hasDied({ state, startedAt }: Sent): boolean {
  return state.at === "sent" && isWorkers() && Date.now() - startedAt > maxRefreshMs;
}

type FailedEnd = Extract<RefreshEnd, { readonly at: "failed" | "lost" }>;

/** The issuer gave nothing that holds for a refresh token. */
class FailedRefresh extends Error {
  override readonly name = "FailedRefresh";
  readonly refreshToken: string;
  readonly end: FailedEnd;

  constructor(refreshToken: string, end: FailedEnd) {
    super("a refresh failed");
    this.refreshToken = refreshToken;
    this.end = end;
  }
}

function diedMeanwhile(): IssuerAway {
  return new IssuerAway("the request that refreshed the token ended before its answer");
}

function isSameAccess(one: OidcTokens | undefined, other: OidcTokens): boolean {
  return one?.accessToken === other.accessToken && one.expiresAt?.getTime() === other.expiresAt?.getTime();
}

function isFresh({ expiresAt }: OidcTokens): boolean {
  return expiresAt === undefined || expiresAt.getTime() - leewayMs > Date.now();
}

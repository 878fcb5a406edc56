/** A shop with a sign-in, for each runtime. */
import { Dep, HttpClient, Keys, Log, Path, Refusal, Returns, Sessions, get, refuse } from "usher-http";
import type { Route } from "usher-http";
import { Oidc } from "usher-http/oidc";
import * as v from "valibot";

/** Its URL, and its issuer. */
export interface ShopEnvironment {
  readonly ORIGIN: string;
  readonly ISSUER: string;
  readonly SECRET: string;
}

export function shopRoutes({ ORIGIN, ISSUER, SECRET }: ShopEnvironment): readonly Route[] {
  Log.setup({ level: undefined });
  const issuer = Oidc.issuer(ISSUER, { clientId: "shop", clientSecret: SECRET, scopes: ["openid", "email"] });
  const sessions = Sessions.make({
    store: Sessions.memory(),
    shape: v.object({ name: v.string(), tokens: Oidc.tokens }),
    idleMs: 60_000,
    absoluteMs: 600_000,
  });
  const signIn = Oidc.routes(issuer, {
    origin: ORIGIN,
    keys: Keys.ring("a secret of thirty-two bytes, or so"),
    sessions,
    userInfo: true,
    onSignIn: ({ claims, tokens, userInfo }) => ({ name: String(userInfo?.["email"] ?? claims.sub), tokens }),
  });
  const signedOut = Refusal.code("signed_out", { status: 401, doc: "No user is signed in.", challenge: "Session" });
  const home = get(
    Path.root,
    { inputs: { session: sessions.optional }, returns: Returns.text },
    ({ session }) => session?.data.name ?? "nobody",
  );
  const token = Dep.join(
    { token: Oidc.accessToken([issuer], sessions) },
    ({ token }) => token ?? refuse(signedOut, "Please sign in."),
    { refuses: [signedOut] },
  );
  const api = HttpClient.make();
  const me = get(Path.of("me"), { inputs: { token }, returns: Returns.text }, async ({ token }) => {
    const answer = await api.fetch(`${ISSUER}/me`, { headers: { authorization: `Bearer ${token}` } });
    return answer.text();
  });
  return [...signIn, home, me];
}

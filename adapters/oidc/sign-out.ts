import { responses } from "../../src/doors/answers.ts";
import { setCookie } from "../../src/doors/inputs.ts";
import { current, log } from "../../src/doors/logging.ts";
import type { Path } from "../../src/routing/path.ts";
import { post } from "../../src/doors/routing.ts";
import type { Route } from "../../src/doors/routing.ts";
import { IssuerAway } from "./failures.ts";
import { isSameIssuer } from "./issuer.ts";
import type { IssuerClient } from "./issuer.ts";
import type { OidcRoutesOptions } from "./options.ts";
import { goTo } from "./return-address.ts";
import { tokensIn } from "./tokens.ts";

/** A longer ID token is not sent as a hint: servers take addresses of 8 kB. */
const maxHint = 6000;

/** `POST /sign-out`: ends the session here, whatever the issuer does, and then sends the browser to the issuer. */
export function signOutRoute<A, C extends string>(
  at: Path<never>,
  issuers: readonly IssuerClient[],
  { sessions, origin, signedOut = "/" }: OidcRoutesOptions<A, C>,
): Route {
  const back = new URL(signedOut, origin).href;
  return post(
    at,
    {
      summary: "Signs out, here and at the issuer",
      inputs: { session: sessions.optional, setCookie },
      returns: responses({ 303: "Signed out." }),
    },
    async ({ session, setCookie }) => {
      await session?.close(setCookie);
      const url = session === undefined ? undefined : await logoutUrl(issuers, session.data, back);
      return goTo(url ?? signedOut);
    },
  );
}

/** The address of the issuer's own sign-out (OpenID Connect RP-Initiated Logout); undefined where it has none. */
async function logoutUrl(issuers: readonly IssuerClient[], data: unknown, back: string): Promise<string | undefined> {
  const tokens = tokensIn(data);
  const issuer = tokens === undefined ? issuers[0] : issuers.find(({ url }) => isSameIssuer(url, tokens.issuer));
  // Without tokens it is not known which of several issuers signed the user in.
  if (issuer === undefined || (tokens === undefined && issuers.length > 1)) return undefined;
  try {
    const url = issuer.endpoint(await issuer.metadata(), "end_session_endpoint");
    if (url === undefined) return undefined;
    const { idToken = "" } = tokens ?? {};
    if (idToken !== "" && idToken.length <= maxHint) url.searchParams.set("id_token_hint", idToken);
    url.searchParams.set("client_id", issuer.clientId);
    url.searchParams.set("post_logout_redirect_uri", back);
    return url.href;
  } catch (thrown) {
    if (!(thrown instanceof IssuerAway)) throw thrown;
    const message = "the user is signed out here, and not at the issuer, which is away";
    log({ level: "warn", source: "framework.http", message, fields: {}, context: current() });
    return undefined;
  }
}

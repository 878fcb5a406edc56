/**
 * Sign-in by OpenID Connect, with a page of who is signed in, and a call of an API in their name. Register
 * `http://localhost:8080/sign-in/callback` at an issuer, and run
 * `ISSUER=https://… CLIENT_ID=… CLIENT_SECRET=… node examples/oidc.ts`.
 */
import { Dep, HttpClient, Keys, Path, Refusal, Returns, Sessions, get, html, refuse } from "usher-http";
import { serve } from "usher-http/node";
import { Oidc } from "usher-http/oidc";
import * as v from "valibot";

const { ISSUER = "http://localhost:9000", CLIENT_ID = "shop", CLIENT_SECRET, KEYS, PORT = "8080" } = process.env;
const { ORIGIN = `http://localhost:${PORT}`, API = `${ISSUER}/me` } = process.env;

// Other keys with each start: who was about to sign in begins again.
const keys = Keys.ring(KEYS ?? `${crypto.randomUUID()}${crypto.randomUUID()}`);
const sessions = Sessions.make({
  store: Sessions.memory(),
  shape: v.object({ name: v.string(), tokens: Oidc.tokens }),
  idleMs: 30 * 60_000,
  absoluteMs: 12 * 3_600_000,
});

const issuer = Oidc.issuer(ISSUER, {
  clientId: CLIENT_ID,
  ...(CLIENT_SECRET === undefined ? {} : { clientSecret: CLIENT_SECRET }),
  scopes: ["openid", "email"],
});

const Mail = v.object({ email: v.string() });
const signIn = Oidc.routes(issuer, {
  origin: ORIGIN,
  keys,
  sessions,
  userInfo: true,
  onSignIn: ({ claims, tokens, userInfo }) => {
    const mail = v.safeParse(Mail, userInfo);
    return { name: mail.success ? mail.output.email : claims.sub, tokens };
  },
});

const signedOut = Refusal.code("signed_out", { status: 401, doc: "No user is signed in.", challenge: "Session" });
const token = Oidc.accessToken([issuer], sessions);
const user = Dep.credential(
  "openid",
  Dep.join({ token }, ({ token }) => token ?? refuse(signedOut, "Please sign in."), { refuses: [signedOut] }),
  { openIdConnect: issuer.discoveryUrl },
);

const home = get(
  Path.root,
  { summary: "Who is signed in", inputs: { session: sessions.optional }, returns: Returns.html },
  ({ session }) =>
    html`<!doctype html>
      <html lang="en">
        <title>Sign-in</title>
        <meta name="viewport" content="width=device-width" />
        <style>
          body {
            font: 1.1rem/1.5 system-ui;
            max-width: 30rem;
            margin: 4rem auto;
            padding: 0 1rem;
          }
          a,
          button {
            font: inherit;
            color: #fff;
            background: #1f4fa3;
            border: 0;
            border-radius: 0.4rem;
            padding: 0.5rem 1rem;
            text-decoration: none;
            display: inline-block;
          }
        </style>
        <h1>${session === undefined ? "Welcome" : `Hello, ${session.data.name}`}</h1>
        ${
          session === undefined
            ? html`<p><a href="/sign-in">Sign in</a></p>`
            : html`<form action="/sign-out" method="post"><button>Sign out</button></form>`
        }
      </html>`,
);

const client = HttpClient.make();
const me = get(
  Path.of("me"),
  { summary: "What an API answers in the name of the user", inputs: { user }, returns: Returns.json(v.unknown()) },
  async ({ user }) => {
    const answer = await client.fetch(API, { headers: { authorization: `Bearer ${user}` } });
    return answer.json();
  },
);

await serve([...signIn, home, me], { port: Number(PORT) });

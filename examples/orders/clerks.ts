import { Codec, Dep, Header, Password, Refusal, Sessions, isSameSecret, refuse } from "usher-http";
import type { SessionStore } from "usher-http";
import * as v from "valibot";

/** The store of sign-in sessions. */
export const sessionStore = Dep.ofResource<SessionStore>("sessions");

/** Sessions of clerks: they end after half an hour without a request, and after a working day. */
export const sessions = Sessions.make({
  store: sessionStore,
  shape: v.object({ clerk: v.string() }),
  idleMs: 30 * 60_000,
  absoluteMs: 8 * 3_600_000,
});

const signedOut = Refusal.code("signed_out", {
  status: 401,
  doc: "Nobody is signed in.",
  challenge: 'Bearer realm="orders"',
});

const bearer = Dep.credential("bearer", Header.optional("authorization", Codec.credentials), {
  doc: "The token of this example is `demo`.",
});

/** A clerk: a signed-in session or the bearer token. */
export const clerk = Dep.join(
  { session: sessions.optional, credentials: bearer },
  ({ session, credentials }) => {
    if (session !== undefined) return session.data.clerk;
    const token = Codec.bearerToken(credentials);
    return token !== undefined && isSameSecret(token, "demo")
      ? "whoever has the token"
      : refuse(signedOut, "Please sign in.");
  },
  { refuses: [signedOut] },
);

/** The only clerk of this example: name `clerk`, password `demo`. */
const clerks: ReadonlyMap<string, string> = new Map([
  ["clerk", "$scrypt$ln=15,r=8,p=3$q2ZM/gGSLr8QCHWD+raVXw$wTv3tOtYGN3fKzq7V3vxMxgqO/7FTJZIcv+QfdO7oqQ"],
]);

// Node has four threads, which file access needs too.
const passwords = Password.make({ atOnce: 3, waitMs: 30_000 });

/** Checks a password. An unknown name takes as long, so that the time does not tell which names exist. */
export async function isRight(name: string, password: string): Promise<boolean> {
  return (await passwords.verify(clerks.get(name), password)).isRight;
}

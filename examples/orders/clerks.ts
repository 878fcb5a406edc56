import { Codec, Dep, Header, Log, Refusal, Sessions, isSameSecret, refuse } from "usher-http";
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

/** Deletes expired sessions once an hour, until the returned function is called. */
export function sweepHourly(kept: SessionStore): () => void {
  const sweep = async (): Promise<void> => {
    try {
      await kept.sweep(new Date());
    } catch {
      // Expired sessions are invalid anyway; the next run deletes them.
      Log.source("orders").warn("the sessions that expired could not be deleted");
    }
  };
  const sweeping = setInterval(() => void sweep(), 3_600_000);
  return () => clearInterval(sweeping);
}

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

/** A password hash: PBKDF2 with SHA-256, with the iterations that OWASP recommends. */
interface Kept {
  readonly salt: string;
  readonly hash: string;
}

const rounds = 600_000;

/** The only clerk of this example: name `clerk`, password `demo`. */
const clerks: ReadonlyMap<string, Kept> = new Map([
  [
    "clerk",
    {
      salt: "c0ffee00c0ffee00c0ffee00c0ffee00",
      hash: "bcad13c84091729f2d047a832d804c35c2d3ceedca2996fb7d0dc6b0b158e8b6",
    },
  ],
]);
const nobody: Kept = { salt: "00000000000000000000000000000000", hash: "" };

/** Checks a password. An unknown name takes as long, so that the time does not tell which names exist. */
export async function isRight(name: string, password: string): Promise<boolean> {
  const { salt, hash } = clerks.get(name) ?? nobody;
  return isSameSecret(await hashOf(password, salt), hash);
}

async function hashOf(password: string, salt: string): Promise<string> {
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(password), "PBKDF2", false, ["deriveBits"]);
  const pbkdf2 = { name: "PBKDF2", hash: "SHA-256", salt: new TextEncoder().encode(salt), iterations: rounds };
  const bits = new Uint8Array(await crypto.subtle.deriveBits(pbkdf2, key, 256));
  return Array.from(bits, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

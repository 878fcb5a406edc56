import { Codec, Dep, Header, Log, Refusal, Sessions, isSameSecret, refuse } from "usher-http";
import type { SessionStore } from "usher-http";
import * as v from "valibot";

/** Where it is kept who is signed in. */
export const sessionStore = Dep.ofResource<SessionStore>("sessions");

/** Clerks who signed in on the page: until they leave it alone for half an hour, and for a working day at the most. */
export const sessions = Sessions.create({
  store: sessionStore,
  shape: v.object({ clerk: v.string() }),
  idleMs: 30 * 60_000,
  absoluteMs: 8 * 3_600_000,
});

/** Deletes the sessions that expired, once an hour, until the answer is called. */
export function sweepHourly(kept: SessionStore): () => void {
  const sweep = async (): Promise<void> => {
    try {
      await kept.sweep(new Date());
    } catch {
      // What expired is nobody's all the same, until the next time.
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

const bearer = Dep.credential("bearer", Header.optional("authorization", Codec.credentials));

/** A clerk: whoever signed in, or shows the token. */
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

/** A password as it is kept: PBKDF2 with SHA-256, of as many rounds as OWASP asks for. */
interface Kept {
  readonly salt: string;
  readonly hash: string;
}

const rounds = 600_000;

/** The one clerk of this example: `clerk`, whose password is `demo`. */
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

/** Whether it is that clerk's password. It takes as long for a clerk there is none of. */
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

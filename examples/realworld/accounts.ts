import { randomBytes, scrypt } from "node:crypto";
import type { ScryptOptions } from "node:crypto";
import { promisify } from "node:util";
import { SignJWT, jwtVerify } from "jose";
import { Codec, Dep, Header, Refusal, isSameSecret, refuse } from "usher-http";
import { database } from "./database.ts";
import { findUser } from "./statements.ts";

/** The secret that signs tokens. */
export const secret = Dep.ofResource<Uint8Array>("secret");

export const signedOut = Refusal.code("signed_out", {
  status: 401,
  doc: "There is no token, or it is not valid, or the email or the password is wrong.",
  challenge: 'Token realm="conduit"',
});

/** `Authorization: Token …`: whose it is, or undefined without one. */
const bearer = Dep.join(
  { credentials: Header.optional("authorization", Codec.credentials), secret, database },
  async ({ credentials, secret, database }) => {
    if (credentials === undefined) return undefined;
    const { scheme, value } = credentials;
    const id = scheme === "token" && value.kind === "token68" ? await idIn(value.token, secret) : undefined;
    const user = id === undefined ? undefined : await database.exec(findUser, id);
    return user ?? refuse(signedOut, "That token is not valid.");
  },
  { refuses: [signedOut] },
);

const doc = "`Authorization: Token …`, with the token that signing in answered.";

/** The user who asks, where they say who they are. */
export const viewer = Dep.credential("token", bearer, { optional: true, doc });

/** The user who asks. */
export const caller = Dep.credential(
  "token",
  Dep.join({ bearer }, ({ bearer }) => bearer ?? refuse(signedOut, "Please sign in."), { refuses: [signedOut] }),
  { doc },
);

export function tokenFor(id: number, secret: Uint8Array): Promise<string> {
  const token = new SignJWT().setProtectedHeader({ alg: "HS256" });
  return token.setSubject(String(id)).setIssuedAt().setExpirationTime("30 days").sign(secret);
}

async function idIn(token: string, secret: Uint8Array): Promise<number | undefined> {
  try {
    const { payload } = await jwtVerify(token, secret, { algorithms: ["HS256"], requiredClaims: ["sub", "exp"] });
    return Number(payload.sub);
  } catch {
    return undefined;
  }
}

// It runs on a thread of its own: a server that hashes still answers.
const scrypted = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);
/** As OWASP recommends. */
const cost = { N: 2 ** 14, r: 8, p: 5 };

/** A salt and a hash, to keep. */
export async function hashOf(password: string, salt: Buffer = randomBytes(16)): Promise<string> {
  return `${salt.toString("hex")}:${(await scrypted(password, salt, 32, cost)).toString("hex")}`;
}

/** Whether a password has that hash. Without one it takes as long, so that the time does not tell who has an account. */
export async function isRight(password: string, kept = `${"0".repeat(32)}:`): Promise<boolean> {
  const salt = Buffer.from(kept.slice(0, 32), "hex");
  return isSameSecret(await hashOf(password, salt), kept);
}

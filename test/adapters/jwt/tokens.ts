/** Keys and the tokens that they sign: valid ones, and ones that no issuer would sign. */
import { createHmac } from "node:crypto";
import { SignJWT, exportJWK, exportSPKI, generateKeyPair } from "jose";
import type { CryptoKey, JWK, JWTHeaderParameters } from "jose";
import { Path, Returns, Test, get } from "usher-http";
import type { Dep } from "usher-http";
import { Jwt } from "usher-http/jwt";
import type { JwtOptions } from "usher-http/jwt";

export const now = new Date("2026-11-23T12:00:00.000Z");
export const seconds = now.getTime() / 1000;
export const secret = "a secret of thirty-two bytes, 1!";

export interface Pair {
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
  readonly pem: string;
}

/** A key pair, with the public key in both formats. */
export async function pairOf(alg: string, kid?: string, more: JWK = {}): Promise<Pair> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), ...(kid === undefined ? {} : { kid }), ...more };
  return { publicKey, privateKey, jwk, pem: await exportSPKI(publicKey) };
}

/** The claims of a valid token; a claim that is undefined is left out. */
export const claims = { iss: "https://login.example/", aud: "shop", sub: "ada", exp: seconds + 60 };

export function signed(
  key: CryptoKey | Uint8Array,
  header: JWTHeaderParameters,
  more: { readonly [claim: string]: unknown } = {},
): Promise<string> {
  return new SignJWT({ ...claims, ...more }).setProtectedHeader(header).sign(key);
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
export const hs256 = (more?: { readonly [claim: string]: unknown }): Promise<string> =>
  signed(bytesOf(secret), { alg: "HS256" }, more);

const encoded = (part: string | object): string =>
  Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");

/** A token of any head and any payload, with the signature of HS256. */
export function forged(head: string | object, payload: string | object, key: string | Buffer = secret): string {
  const content = `${encoded(head)}.${encoded(payload)}`;
  return `${content}.${createHmac("sha256", key).update(content).digest("base64url")}`;
}

export const options: JwtOptions = {
  issuer: "https://login.example/",
  audience: "shop",
  keys: Jwt.secrets([secret]),
  algorithms: ["HS256"],
};

/** Sends a request to an app whose one route has that input; returns its status, its challenge, and the claims. */
export function asking(user: Dep<unknown, string, unknown>) {
  const app = Test.app([
    get(Path.root, { inputs: { user }, returns: Returns.text }, ({ user }) => JSON.stringify(user)),
  ]);
  return async (token: string | undefined, at: Date = now) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await Test.call(app, "GET", "/", { headers, now: at });
    return [answer.status, answer.headers.get("www-authenticate"), answer.body] as const;
  };
}

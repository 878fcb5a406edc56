/** `node program.mjs URL`: what a bearer answers to a table of tokens, as JSON. */
import { SignJWT, exportJWK, generateKeyPair } from "jose";
import { App, Log, Path, Returns, get } from "usher-http";
import { Jwt } from "usher-http/jwt";

Log.setup({ level: undefined });
const secret = "a secret of thirty-two bytes, 1!";
const who = { issuer: "https://login.example/", audience: "shop" };
const me = Path.of("me");

/** @param {import("usher-http/jwt").Bearer<import("usher-http/jwt").JwtClaims>} user */
function appOf(user) {
  return App.make([get(me, { inputs: { user }, returns: Returns.text }, ({ user }) => user.sub ?? "")]);
}

/** @param {import("usher-http").App} app @param {string} token */
async function statusOf(app, token) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await app.fetch(new Request("http://localhost/me", { headers }));
  await response.body?.cancel();
  return response.status;
}

/** @param {Parameters<SignJWT["sign"]>[0]} key @param {import("jose").JWTHeaderParameters} header @param {object} [more] */
function signed(key, header, more = {}) {
  const exp = Math.floor(Date.now() / 1000) + 60;
  return new SignJWT({ iss: who.issuer, aud: who.audience, sub: "ada", exp, ...more })
    .setProtectedHeader(header)
    .sign(key);
}

/** An app with the keys of an issuer. @param {string} url */
export const appAt = (url) => appOf(Jwt.bearer({ ...who, keys: Jwt.jwks(url), algorithms: ["ES256"] }));

/** @param {string} url Where the keys of an issuer are. @param {string} token A token of its. */
export async function table(url, token) {
  const key = new TextEncoder().encode(secret);
  const shared = appOf(Jwt.bearer({ ...who, keys: Jwt.secrets([secret]), algorithms: ["HS256"] }));
  const rows = [
    ["HS256", await statusOf(shared, await signed(key, { alg: "HS256" }))],
    ["expired", await statusOf(shared, await signed(key, { alg: "HS256" }, { exp: 1 }))],
    ["cut short", await statusOf(shared, (await signed(key, { alg: "HS256" })).slice(0, -4))],
  ];
  for (const alg of /** @type {const} */ (["ES256", "RS256", "PS256", "EdDSA"])) {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    const keys = await Jwt.publicKeys([JSON.stringify(await exportJWK(publicKey))]);
    rows.push([
      alg,
      await statusOf(appOf(Jwt.bearer({ ...who, keys, algorithms: [alg] })), await signed(privateKey, { alg })),
    ]);
  }
  const remote = appAt(url);
  const both = await Promise.all([statusOf(remote, token), statusOf(remote, token)]);
  const away = appOf(Jwt.bearer({ ...who, keys: Jwt.jwks(`${url}/slow`, { timeoutMs: 100 }), algorithms: ["ES256"] }));
  const moved = appOf(Jwt.bearer({ ...who, keys: Jwt.jwks(`${url}/moved`), algorithms: ["ES256"] }));
  const long = appOf(Jwt.bearer({ ...who, keys: Jwt.jwks(url, { maxBytes: 100 }), algorithms: ["ES256"] }));
  return [
    ...rows,
    ["JWKS", ...both, await statusOf(remote, token)],
    ["slow", await statusOf(away, token)],
    ["moved", await statusOf(moved, token)],
    ["long", await statusOf(long, token)],
  ];
}

const [, , url, token] = globalThis.process?.argv ?? [];
if (url !== undefined && token !== undefined) console.log(JSON.stringify(await table(url, token)));

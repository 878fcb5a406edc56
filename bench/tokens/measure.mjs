/** `node measure.mjs <algorithm> <requests>`: sends the processor time of a verified token, in microseconds, by `jose` and by a bearer. */
import { SignJWT, exportSPKI, generateKeyPair, jwtVerify } from "jose";
import { App, Codec, Dep, Header, Log, Path, Returns, get } from "usher-http";
import { Jwt } from "usher-http/jwt";
import * as v from "valibot";

const [, , algorithm = "ES256", requests = "1000"] = process.argv;
const who = { issuer: "https://login.example/", audience: "shop" };
const secret = "a secret of thirty-two bytes, 1!";
Log.setup({ level: undefined });

async function keysOf() {
  if (algorithm === "HS256") {
    const bytes = new TextEncoder().encode(secret);
    const hmac = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", bytes, hmac, false, ["verify"]);
    return { signing: bytes, verifying: key, keys: Jwt.secrets([secret]) };
  }
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return { signing: privateKey, verifying: publicKey, keys: await Jwt.publicKeys([await exportSPKI(publicKey)]) };
}

const { signing, verifying, keys } = await keysOf();
const token = await new SignJWT({ scope: "read write", sub: "ada" })
  .setProtectedHeader({ alg: algorithm, typ: "at+jwt", kid: "2026-11" })
  .setIssuer(who.issuer)
  .setAudience(who.audience)
  .setIssuedAt()
  .setExpirationTime("1h")
  .sign(signing);
const user = Jwt.bearer({ ...who, keys, algorithms: [algorithm], claims: v.object({ sub: v.string() }) });
const me = Path.of("me");
const open = App.make([get(me, { returns: Returns.text }, () => "ada")]);
const closed = App.make([get(me, { inputs: { user }, returns: Returns.text }, ({ user }) => user.sub)]);
const checks = { ...who, algorithms: [algorithm], requiredClaims: ["exp"], clockTolerance: 5 };

const Sub = v.object({ sub: v.string() });
const byHand = Dep.join({ sent: Header.optional("authorization", Codec.credentials) }, async ({ sent }) => {
  const { payload } = await jwtVerify(Codec.bearerToken(sent) ?? "", verifying, checks);
  return v.parse(Sub, payload);
});
const handmade = App.make([get(me, { inputs: { user: byHand }, returns: Returns.text }, ({ user }) => user.sub)]);

const ask = (app) => async () => {
  const headers = { authorization: `Bearer ${token}` };
  const response = await app.fetch(new Request("http://localhost/me", { headers }));
  if (response.status !== 200) throw new Error(`the answer is ${response.status}`);
  await response.text();
};
const candidates = {
  jose: async () => void (await jwtVerify(token, verifying, checks)),
  open: ask(open),
  hand: ask(handmade),
  closed: ask(closed),
};

/** Processor time of one call, of all threads: the signature is verified on another one. */
async function time(call, count) {
  const before = process.cpuUsage();
  for (let i = 0; i < count; i++) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

const count = Number(requests);
const times = { jose: [], open: [], hand: [], closed: [] };
for (const call of Object.values(candidates)) await time(call, count / 4);
for (let round = 0; round < 8; round++) {
  for (const [who, call] of Object.entries(candidates)) times[who].push(await time(call, count / 8));
}
process.send?.(times);

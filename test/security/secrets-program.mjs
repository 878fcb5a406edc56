/** Prints every object that takes a secret, in each way that a runtime has: the test looks for the secrets. */
import { ApiKeys, App, Codec, Cookie, Dep, Keys, Log, Path, Returns, Sessions, Webhook, get, post } from "usher-http";
import { Jwt } from "usher-http/jwt";
import { Oidc } from "usher-http/oidc";
import * as v from "valibot";

const secret = "s3cr3t-never-printed-0123456789abcdef";
const older = "0ld3r-never-printed-0123456789abcdef0";
Log.setup({ levels: { default: "debug" }, out: (line) => console.log(line) });

const ring = Keys.ring(secret, older);
const webhooks = /** @type {const} */ (["github", "stripe"]).map((scheme) =>
  Webhook.verify(v.object({}), { scheme, secrets: [secret, older] }),
);
const jwtKeys = Jwt.secrets([secret, new TextEncoder().encode(older)]);
const bearer = Jwt.bearer({ issuer: "https://a.example/", audience: "a", keys: jwtKeys, algorithms: ["HS256"] });
const apiKeys = ApiKeys.make({ prefix: "shop_live", store: ApiKeys.memory() });
const created = await ApiKeys.create(apiKeys, { owner: "ada" });
const issuers = /** @type {const} */ (["basic", "post"]).map((sendSecret) =>
  Oidc.issuer("https://a.example", { clientId: "shop", clientSecret: [secret, older], sendSecret }),
);
const signed = Cookie.signed(ring, "a", Codec.string);
const sealed = Cookie.encrypted(ring, "b", Codec.string);
const inputs = { bearer, scoped: bearer.scope("a"), caller: ApiKeys.input(apiKeys).optional };
const route = get(Path.root, { inputs, returns: Returns.text }, () => "in");
const hook = post(Path.root, { inputs: { webhook: webhooks[0] ?? Dep.return({}) }, returns: Returns.text }, () => "in");
const app = App.make([route, hook], { resources: [Dep.resource(Dep.ofResource("ring"), ring)] });
const sessions = Sessions.make({ store: Sessions.memory(), shape: v.object({}), idleMs: 1000, absoluteMs: 1000 });

// Some import their keys at the first use.
await Keys.sign(ring, "a text");
await Keys.seal(ring, "a text", "context");
for (const token of ["e30.e30.e30", created.key]) {
  const headers = { authorization: `Bearer ${token}` };
  await (await app.fetch(new Request("http://localhost/", { headers }))).text();
}
const headers = { "content-type": "application/json", "x-hub-signature-256": `sha256=${"0".repeat(64)}` };
await (await app.fetch(new Request("http://localhost/", { method: "POST", headers, body: "{}" }))).text();

const objects = {
  ring,
  webhooks,
  jwtKeys,
  bearer,
  issuers,
  apiKeys,
  store: apiKeys.store,
  entry: created.entry,
  signed,
  sealed,
};
const signIn = issuers.map((issuer) =>
  Oidc.routes(issuer, { origin: "https://b.example", keys: ring, sessions, onSignIn: () => ({}) }),
);
const all = { ...objects, signIn, route, hook, app, sessions };

/** @param {() => unknown} print */
function printed(print) {
  try {
    console.log(print());
  } catch (error) {
    // A circle, which JSON does not write.
    console.log(error);
  }
}

const { inspect } = await import("node:util");
for (const one of [...Object.values(all), all]) {
  console.log(one, String(one));
  console.dir(one, { depth: null, showHidden: true });
  printed(() => inspect(one, { depth: Infinity, showHidden: true, getters: true, maxArrayLength: null }));
  printed(() => globalThis.Deno?.inspect(one, { depth: 100, showHidden: true, getters: true }));
  printed(() => globalThis.Bun?.inspect(one, { depth: 100 }));
  printed(() => JSON.stringify(one));
  printed(() => Object.entries(Object.getOwnPropertyDescriptors(one)).map(([name, { value }]) => [name, value]));
  printed(() => structuredClone(one));
}

/** What is refused at the start says which secret is wrong, and not what it is. */
const short = "sh0rt-s3cret";
/** @type {readonly (() => unknown)[]} */
const refused = [
  () => Keys.ring(short),
  () => Keys.ring(secret, short),
  () => Webhook.verify(v.object({}), { scheme: "github", secrets: [secret, short] }),
  () => Webhook.verify(v.object({}), { scheme: "standard", secrets: [short] }),
  () => Jwt.secrets([secret, short]),
  () => Oidc.issuer("https://a.example", { clientId: "a", clientSecret: [secret, short] }),
  () => Oidc.issuer("https://a.example", { clientId: "a", clientSecret: short }),
  () => Jwt.bearer({ issuer: "a", audience: "a", keys: Jwt.secrets([secret]), algorithms: ["HS512"] }),
  () => Jwt.bearer({ issuer: "a", audience: "a", keys: /** @type {never} */ (secret), algorithms: ["HS256"] }),
];
for (const make of refused) {
  let error;
  try {
    make();
  } catch (thrown) {
    error = thrown;
  }
  console.log("refused:", error instanceof Error ? error.message : "nothing");
  console.log(error);
}
console.log("key:", created.key);

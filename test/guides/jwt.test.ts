/** The page on JWTs: its own test passes, and a wrong token is a 401. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { SignJWT, exportJWK, generateKeyPair } from "jose";
import type { CryptoKey } from "jose";
import type * as Usher from "usher-http";
import type * as UsherJwt from "usher-http/jwt";
import { describe, expect, it } from "vitest";
import { openGuide } from "./project.ts";

const guide = openGuide("jwt");
guide.write("package.ts", 'export * from "usher-http"; export * from "usher-http/jwt";');

interface Made {
  readonly keys: Usher.Resource<unknown>;
  readonly tokenOf: (user: string, secret: string) => Promise<string>;
  readonly userBy: (secret: string) => UsherJwt.Bearer<object>;
  readonly routes: readonly Usher.Route[];
}

/** One key for all tests: to make one takes half a second. */
const opened = once(async () => {
  const { Dep, Jwt, Path, Returns, Test, get } = await guide.load<typeof Usher & typeof UsherJwt>("package.ts");
  const [{ keys }, { routes }, { tokenOf, userBy }] = await Promise.all([
    guide.load<Made>("auth.ts"),
    guide.load<Made>("routes.ts"),
    guide.load<Made>("sign.ts"),
  ]);
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const own = await Jwt.publicKeys([JSON.stringify(await exportJWK(publicKey))]);
  const app = Test.app(routes, { resources: [Dep.resource(keys, own)] });
  const ofSecret = async (secret: string) => {
    const user = userBy(secret);
    const app = Test.app([get(Path.root, { inputs: { user }, returns: Returns.text }, () => "in")]);
    const headers = { authorization: `Bearer ${await tokenOf("ada", secret)}` };
    return (await Test.call(app, "GET", "/", { headers })).status;
  };
  const call = async (method: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { status, body, headers: answered } = await Test.call(app, method, "/me", { headers });
    return { status, body, challenge: answered.get("www-authenticate") };
  };
  return { call, privateKey, tokenOf, ofSecret };
});

function once<A>(make: () => Promise<A>): () => Promise<A> {
  let made: Promise<A> | undefined = undefined;
  return () => (made ??= make());
}

function token(key: CryptoKey, claims: { readonly [claim: string]: unknown }) {
  const all = { sub: "ada", iss: "https://login.example/", aud: "shop", exp: Date.now() / 1000 + 60, ...claims };
  return new SignJWT(all).setProtectedHeader({ alg: "ES256" }).sign(key);
}

describe("a JWT", () => {
  it("passes the test of the page", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--test", guide.path("auth.test.ts")]);
    expect(stdout).toMatch(/^# pass 1$/m);
  });

  it("has the user who sends the request", async () => {
    const { call, privateKey } = await opened();
    expect(await call("GET", await token(privateKey, {}))).toMatchObject({ status: 200, body: "ada" });
    expect(await call("DELETE", await token(privateKey, { scope: "read account:delete" }))).toMatchObject({
      status: 204,
    });
    expect(await call("DELETE", await token(privateKey, { scope: "account" }))).toMatchObject({ status: 403 });
  });

  it.each([
    ["expired", { exp: 1 }],
    ["not valid yet", { nbf: Date.now() }],
    ["of another issuer", { iss: "https://evil.example/" }],
    ["of another audience", { aud: "bank" }],
    ["without a subject", { sub: undefined }],
  ])("is a 401 if it is %s", async (_, claims) => {
    const { call, privateKey } = await opened();
    const answered = await call("GET", await token(privateKey, claims));
    expect(answered).toMatchObject({ status: 401, challenge: 'Bearer error="invalid_token"' });
  });

  it("is a 401 if it is malformed, unsigned, or signed by another key", async () => {
    const { call, tokenOf } = await opened();
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const unsigned = `${part({ alg: "none" })}.${part({ sub: "ada" })}.`;
    const { privateKey: other } = await generateKeyPair("ES256");
    const own = await tokenOf("ada", "a secret of 32 bytes and a few more");
    for (const wrong of [undefined, "", "x", unsigned, await token(other, {}), own]) {
      expect([wrong, (await call("GET", wrong)).status]).toEqual([wrong, 401]);
    }
  });

  it("is valid if the page's own code signed it", async () => {
    const { ofSecret } = await opened();
    expect(await ofSecret("a secret of 32 bytes and a few more")).toBe(200);
  });
});

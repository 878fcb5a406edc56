/** A bearer token is a dependency like any other (contract 5; rows IN-29 to IN-31, CD-133). */
import { describe, expect, it } from "vitest";
import { Codec, Dep, Header, Path, Query, Refusal, Result, Returns, Test, get, refuse } from "usher-http";
import { invalid } from "../support/refusals.ts";
import { lines } from "../support/logs.ts";

const signedOut = Refusal.code("signed_out", {
  status: 401,
  doc: "Nobody is signed in.",
  challenge: 'Bearer realm="api"',
});
const token = Dep.credential(
  "bearer",
  Dep.join(
    { credentials: Header.optional("authorization", Codec.credentials) },
    ({ credentials }) =>
      credentials?.scheme === "bearer" && credentials.value.kind === "token68"
        ? credentials.value.token
        : refuse(signedOut, "Please sign in."),
    { refuses: [signedOut] },
  ),
);
const me = get(Path.of("me"), { inputs: { token }, returns: Returns.text }, ({ token }) => token);
const app = Test.app([me]);

describe("a bearer token", () => {
  it.each([undefined, "Basic dXNlcjpwYXNz", "Bearer", 'Bearer realm="x"', "Digest username=a"])(
    "IN-29 %j is the application's 401",
    async (authorization) => {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const { status, body, headers: answered } = await Test.call(app, "GET", "/me", { headers });
      expect([status, body]).toEqual([401, '{"error":"signed_out","message":"Please sign in."}']);
      expect(answered.get("www-authenticate")).toBe('Bearer realm="api"');
    },
  );

  it.each(["bearer abc", "Bearer abc", "BEARER abc", "  Bearer abc  "])(
    "IN-30 %j is accepted",
    async (authorization) => {
      expect((await Test.call(app, "GET", "/me", { headers: { authorization } })).body).toBe("abc");
    },
  );

  it.each(["Bearer s3cret s3cret", "Bearer s3cret,", "Be(arer s3cret", "Bearer  s3cret\u00e9", ""])(
    "IN-31 %j is no credentials, a 400 that never quotes it",
    async (authorization) => {
      const { status, body } = await Test.call(app, "GET", "/me", { headers: { authorization } });
      expect([status, body]).toEqual([400, invalid(["header.authorization", "malformed", "This is not credentials."])]);
      expect(JSON.stringify(lines())).not.toContain("s3cret");
    },
  );
});

it("CD-133 the message of an application's own codec is in the problem", async () => {
  const shout = Codec.custom<string>({
    kind: "shout",
    parse: (text) => (text === text.toUpperCase() ? Result.ok(text) : Result.error("Please shout.")),
    print: String,
  });
  const route = get(
    Path.root,
    {
      inputs: { shout: Query.required("shout", shout), again: Header.optional("x-shout", shout) },
      returns: Returns.text,
    },
    ({ shout }) => shout,
  );
  expect((await Test.call(Test.app([route]), "GET", "/?shout=HEY")).body).toBe("HEY");
  const { body } = await Test.call(Test.app([route]), "GET", "/?shout=hey", { headers: { "x-shout": "ho" } });
  expect(body).toBe(
    invalid(["query.shout", "malformed", "Please shout."], ["header.x-shout", "malformed", "Please shout."]),
  );
});

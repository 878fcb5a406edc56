/** A verifier caches the heads of tokens, up to a limit. */
import { Path, Returns, Test, get } from "usher-http";
import { Jwt } from "usher-http/jwt";
import { expect, it } from "vitest";
import { memory } from "../../support/memory.ts";
import { bytesOf, now, options, secret, signed } from "./tokens.ts";

it("a verifier does not cache most heads if each is a different one of 6 kB", async () => {
  const user = Jwt.bearer({ ...options, maxLength: 16_000 });
  const app = Test.app([get(Path.root, { inputs: { user }, returns: Returns.text }, ({ user }) => user.iss)]);
  let at = 0;
  const round = async (): Promise<void> => {
    for (const end = at + 500; at < end; at++) {
      const token = await signed(bytesOf(secret), { alg: "HS256", typ: `${at} ${"a".repeat(6000)}` });
      const headers = { authorization: `Bearer ${token}` };
      expect((await Test.call(app, "GET", "/", { headers, now })).status).toBe(200);
    }
  };
  await round();
  const before = await memory();
  for (let i = 0; i < 3; i++) await round();
  // Each round has 4 MB of heads.
  expect((await memory()) - before).toBeLessThan(4_000_000);
});

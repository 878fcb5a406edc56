/** When an issuer's endpoint is asked again, which is remembered for a few endpoints. */
import { expect, it } from "vitest";
import { Rests } from "../../../adapters/oidc/rests.ts";

it("one endpoint has one rest, whatever the query, until 32 others are asked", () => {
  const rests = new Rests();
  const of = (path: string): unknown => rests.of(new URL(`https://issuer.example/${path}`));
  const token = of("token");
  expect(of("token?a=1")).toBe(token);
  for (let i = 1; i < 32; i++) expect(of(`${i}`)).not.toBe(token);
  expect(of("token")).toBe(token);
  of("another");
  expect(of("token")).not.toBe(token);
});

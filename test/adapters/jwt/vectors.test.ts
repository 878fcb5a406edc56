/** The examples of the RFCs: a signature that they print is valid, and it is invalid with one byte less. */
import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Jwt } from "usher-http/jwt";
import type { JwtAlgorithm } from "usher-http/jwt";
import { messages } from "../../support/logs.ts";
import { asking, claims as right, forged, now, options, secret } from "./tokens.ts";

const claims = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
/** Before the time that they expire, 1300819380. */
const at = new Date(1_300_819_000_000);

/** Their payload has no `aud`, which is checked after the signature. */
const vectors: readonly (readonly [name: string, alg: JwtAlgorithm, keys: () => unknown, token: string])[] = [
  [
    "RFC 7515 A.1",
    "HS256",
    () =>
      Jwt.secrets([
        Buffer.from(
          "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
          "base64url",
        ),
      ]),
    `eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.${claims}.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk`,
  ],
  [
    "RFC 7515 A.2",
    "RS256",
    () =>
      Jwt.publicKeys([
        JSON.stringify({
          kty: "RSA",
          n:
            "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yR" +
            "T-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXB" +
            "dQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9ia" +
            "GNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
          e: "AQAB",
        }),
      ]),
    `eyJhbGciOiJSUzI1NiJ9.${claims}.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw`,
  ],
  [
    "RFC 7515 A.3",
    "ES256",
    () =>
      Jwt.publicKeys([
        JSON.stringify({
          kty: "EC",
          crv: "P-256",
          x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
          y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        }),
      ]),
    `eyJhbGciOiJFUzI1NiJ9.${claims}.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q`,
  ],
];

describe("the examples of the RFCs", () => {
  it.each(vectors)("%s", async (_name, alg, keys, token) => {
    const user = Jwt.bearer({
      ...options,
      issuer: "joe",
      keys: (await keys()) as typeof options.keys,
      algorithms: [alg],
    });
    const reasonOf = async (token: string): Promise<string> => {
      const before = messages("warn").length;
      expect((await asking(user)(token, at))[0]).toBe(401);
      return String(messages("warn")[before]);
    };
    expect(await reasonOf(token)).toContain("it has no aud");
    expect(await reasonOf(token.slice(0, -4))).toContain("none of the keys signed it");
    expect(await reasonOf(token.replace(/^e/, "f"))).toContain("it is no JWT");
  });

  it("RFC 8037 A.4: a signature of a payload that is not JSON", async () => {
    const key = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
    const user = Jwt.bearer({ ...options, keys: await Jwt.publicKeys([JSON.stringify(key)]), algorithms: ["EdDSA"] });
    const signature = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    const token = `eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.${signature}`;
    expect((await asking(user)(token, at))[0]).toBe(401);
    // The signature is valid; its payload is a text.
    expect(messages("warn")).toEqual(["GET /: signed_out: it is no JWT"]);
    expect((await asking(user)(token.replace("hgyY", "hgyZ"), at))[0]).toBe(401);
    expect(messages("warn").at(-1)).toBe("GET /: signed_out: none of the keys signed it");
  });
});

/** The same bytes in other characters: bits that base64url does not use, or padding. A list of revoked tokens has one text of each. */
describe("RFC 7515 §5.2: a token in another spelling than its issuer's is refused", () => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const withUnusedBit = (part: string): string => part.slice(0, -1) + letters[letters.indexOf(part.at(-1) ?? "") ^ 1];
  const signedAs = (write: (head: string, payload: string) => string): string => {
    const [head = "", payload = ""] = forged({ alg: "HS256", kid: "a" }, { ...right, jti: "ab" }).split(".");
    const content = write(head, payload);
    return `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
  };
  const issued = signedAs((head, payload) => `${head}.${payload}`);

  it.each<readonly [what: string, token: () => string]>([
    ["padding behind the signature", () => `${issued}=`],
    ["an unused bit of the signature", () => issued.replace(/[^.]+$/, withUnusedBit)],
    ["an unused bit of the payload", () => signedAs((head, payload) => `${head}.${withUnusedBit(payload)}`)],
    ["an unused bit of the head", () => signedAs((head, payload) => `${withUnusedBit(head)}.${payload}`)],
  ])("%s", async (_what, token) => {
    const ask = asking(Jwt.bearer(options));
    const refuses = async (): Promise<void> => {
      expect((await ask(token(), now))[0]).toBe(401);
      expect(messages("warn").at(-1)).toBe("GET /: signed_out: it is no JWT");
    };
    await refuses();
    expect((await ask(issued, now))[0]).toBe(200);
    // The verifier has cached the head by now.
    await refuses();
  });
});

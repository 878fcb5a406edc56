/** Certificates and keys that do not fit, at the start of a server and in a replacement. */
import { generateKeyPairSync } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Path, Returns, get } from "usher-http";
import { serve } from "usher-http/node";
import type { Server, ServeOptions } from "usher-http/node";
import { makeCertificate } from "../../support/certificates.ts";
import { endsWithTest } from "../../support/ends.ts";
import { logged } from "../../support/logs.ts";
import { secureAsk } from "../../support/secure-client.ts";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "Hello.");
const start = async (tls: ServeOptions["tls"] & {}): Promise<Server> => {
  const server = await serve([hello], { port: 0, host: "127.0.0.1", tls, signals: false });
  endsWithTest(() => server.stop());
  return server;
};

const root = makeCertificate({ name: "root", isAuthority: true });
const middle = makeCertificate({ name: "middle", isAuthority: true, issuer: root });
const home = makeCertificate({ name: "localhost", hosts: ["localhost", "127.0.0.1"], issuer: middle });
const other = makeCertificate({ name: "other.example", hosts: ["other.example"] });
const { cert, key } = home;
const pemOf = (privateKey: KeyObject, passphrase?: string): string =>
  privateKey
    .export({
      type: "pkcs8",
      format: "pem",
      ...(passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase }),
    })
    .toString();
const rsa = pemOf(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);
const ed25519 = pemOf(generateKeyPairSync("ed25519").privateKey);
const locked = pemOf(home.keys.privateKey, "open");
const empty = (label: string): string => `-----BEGIN ${label}-----\n-----END ${label}-----\n`;

const wrong: readonly (readonly [
  what: string,
  tls: { cert: string; key: string; passphrase?: string },
  why: string,
])[] = [
  ["of another certificate", { cert, key: other.key }, ".key does not belong to @.cert"],
  [
    "of the kind RSA",
    { cert, key: rsa },
    ".key does not belong to @.cert: the key is of the kind rsa, and the certificate of ec",
  ],
  ["of the kind Ed25519", { cert, key: ed25519 }, ".key does not belong to @.cert: the key is of the kind ed25519"],
  [
    "of the second certificate",
    { cert: middle.cert + cert, key },
    ".cert must begin with the certificate of @.key, which is number 2",
  ],
  ["that is encrypted", { cert, key: locked }, ".key cannot be used: it is encrypted, and @.passphrase is missing"],
  [
    "with another passphrase",
    { cert, key: locked, passphrase: "x" },
    ".key cannot be used: @.passphrase does not open it",
  ],
  ["that is empty", { cert, key: empty("PRIVATE KEY") }, ".key cannot be used: it is not a private key"],
  ["of an empty certificate", { cert: empty("CERTIFICATE"), key }, ".cert cannot be used: it is not a certificate"],
  [
    "and a broken chain",
    { cert: cert + empty("CERTIFICATE"), key },
    ".cert cannot be used: block 2 is not a certificate",
  ],
  ["and an empty text", { cert: "", key }, '.cert has no PEM block "CERTIFICATE"'],
  [
    "and a chain in another order",
    { cert: cert + root.cert + middle.cert, key },
    ".cert is not in the order of its signatures: number 2",
  ],
];

describe("a key", () => {
  it.each(wrong)("%s is an error at start", async (_what, tls, why) => {
    await expect(start(tls)).rejects.toThrow(`serve: tls${why.replace("@", "serve: tls")}`);
    const named = { cert, key, names: { "shop.example": tls } };
    const at = 'serve: tls.names["shop.example"]';
    await expect(start(named)).rejects.toThrow(`${at}${why.replace("@", at)}`);
  });

  it.each(wrong)("%s in a replacement leaves the old pair in use", async (_what, tls, why) => {
    const server = await start({ cert: cert + middle.cert, key });
    const replace = (): void => server.replaceCertificates(tls);
    expect(replace).toThrow(`replaceCertificates${why.replace("@", "replaceCertificates")}`);
    expect(replace).toThrow(TypeError);
    expect((await secureAsk(server.port, "/hello", { ca: root.cert })).status).toBe(200);
  });

  it("that fits works, with its passphrase, and whatever further certificates are in the chain", async () => {
    for (const tls of [
      { cert: cert + middle.cert, key: locked, passphrase: "open" },
      { cert: cert + middle.cert + root.cert, key },
      { cert: cert + middle.cert + other.cert, key, passphrase: "of no use" },
      { cert: Buffer.from(cert + middle.cert), key: Buffer.from(key) },
      { cert: `Subject: localhost\n${cert}${middle.cert}`, key: `Bag Attributes\n${key}` },
    ]) {
      const { port } = await start(tls);
      expect((await secureAsk(port, "/hello", { ca: root.cert })).status).toBe(200);
    }
    expect(logged().join("")).not.toContain("certificate");
  });
});

it.each([
  ["has expired", { from: -3, days: -1 }],
  ["is not valid yet", { from: 1, days: 3 }],
])("a certificate that %s is a line at warn, at start and in a replacement", async (what, times) => {
  const late = makeCertificate({ name: "localhost", hosts: ["localhost"], ...times });
  const server = await start({ cert: late.cert, key: late.key });
  expect(logged().filter((line) => line.includes(`serve: tls.cert ${what}: `))).toHaveLength(1);
  server.replaceCertificates({ cert: cert + middle.cert, key });
  expect((await secureAsk(server.port, "/hello", { ca: root.cert })).status).toBe(200);
  server.replaceCertificates({ cert, key, names: { "a.example": { cert: late.cert, key: late.key } } });
  const line = `replaceCertificates.names[\\"a.example\\"].cert ${what}: `;
  expect(logged().filter((one) => one.includes(line))).toHaveLength(1);
});

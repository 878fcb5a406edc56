/** Certificates for tests, made when a test runs: Node has no function that makes one (X.509, RFC 5280, in DER). */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";

/** A certificate and its key as PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
  readonly keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly name: string;
}

interface Wanted {
  /** The common name. */
  readonly name: string;
  /** Names that it is valid for. */
  readonly hosts?: readonly string[];
  /** Its issuer; itself without one. */
  readonly issuer?: TestCertificate;
  /** Whether it may sign others. */
  readonly isAuthority?: boolean;
  /** When it begins and ends, in days from now: -1 and 2 by default. */
  readonly from?: number;
  readonly days?: number;
}

const tag = { boolean: 1, integer: 2, bits: 3, bytes: 4, oid: 6, utf8: 12, time: 24, sequence: 48, set: 49 };
const ecdsaWithSha256 = "1.2.840.10045.4.3.2";

/** Makes a certificate, with a key of its own on the curve P-256. */
export function makeCertificate({
  name,
  hosts = [],
  issuer,
  isAuthority = false,
  from = -1,
  days = 2,
}: Wanted): TestCertificate {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const publicKey = keys.publicKey.export({ type: "spki", format: "der" });
  const algorithm = sequence(oid(ecdsaWithSha256));
  const keyId = createHash("sha1").update(publicKey).digest();
  const extensions = [
    extension("2.5.29.19", isAuthority ? sequence(der(tag.boolean, Buffer.of(0xff))) : sequence()),
    extension("2.5.29.14", der(tag.bytes, keyId)),
    ...(hosts.length === 0 ? [] : [extension("2.5.29.17", sequence(...hosts.map(subjectName)))]),
  ];
  const body = sequence(
    der(0xa0, der(tag.integer, Buffer.of(2))),
    der(tag.integer, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    commonName(issuer?.name ?? name),
    sequence(time(from), time(days)),
    commonName(name),
    publicKey,
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", body, issuer?.keys.privateKey ?? keys.privateKey);
  const cert = pem("CERTIFICATE", sequence(body, algorithm, der(tag.bits, Buffer.of(0), signature)));
  return { cert, key: keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString(), keys, name };
}

function der(type: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(type, ...size), content]);
}

function sequence(...contents: readonly Uint8Array[]): Buffer {
  return der(tag.sequence, ...contents);
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = rest.flatMap((part) => {
    const digits = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return der(tag.oid, Buffer.of(first * 40 + second, ...bytes));
}

function commonName(name: string): Buffer {
  return sequence(der(tag.set, sequence(oid("2.5.4.3"), der(tag.utf8, Buffer.from(name)))));
}

function time(days: number): Buffer {
  const text = new Date(Date.now() + days * 86_400_000)
    .toISOString()
    .replace(/[-:T]/g, "")
    .replace(/\.\d+Z$/, "Z");
  return der(tag.time, Buffer.from(text));
}

/** A DNS name or an IPv4 address. */
function subjectName(host: string): Buffer {
  const parts = host.split(".");
  const isAddress = parts.every((part) => /^\d+$/.test(part));
  return isAddress ? der(0x87, Buffer.from(parts.map(Number))) : der(0x82, Buffer.from(host));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(tag.bytes, value));
}

function pem(label: string, bytes: Buffer): string {
  return `-----BEGIN ${label}-----\n${bytes.toString("base64").replace(/.{64}(?=.)/g, "$&\n")}\n-----END ${label}-----\n`;
}

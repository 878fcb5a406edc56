/** What is wrong with certificates, before a server starts with them. */
import { log } from "../logging/writer.ts";
import type { Certificate, Certificates } from "./tls.ts";

/** What is read of `node:crypto`, which Node, Bun and Deno have. */
export interface CertificateReader {
  readonly X509Certificate: new (pem: string) => ParsedCertificate;
  createPrivateKey(key: string | { readonly key: string; readonly passphrase: string }): ParsedKey;
}

interface ParsedCertificate {
  readonly validFrom: string;
  readonly validTo: string;
  readonly publicKey: ParsedKey;
  checkPrivateKey(key: ParsedKey): boolean;
  checkIssued(other: ParsedCertificate): boolean;
}

interface ParsedKey {
  readonly asymmetricKeyType?: string | undefined;
}

/**
 * Throws a TypeError for certificates with which handshakes would fail: a key of another certificate, a chain in another order, a
 * key that does not open. Node notices a wrong key only if it is of the same kind as that of the certificate. A certificate that is
 * not valid now is a line at warn: its clients may not check it, and the clock may be wrong.
 */
export function checkFit(at: string, { names = {}, ...first }: Certificates, reader: CertificateReader): void {
  checkOne(at, first, reader);
  for (const [name, one] of Object.entries(names)) checkOne(`${at}.names[${JSON.stringify(name)}]`, one, reader);
}

function checkOne(at: string, { cert, key, passphrase }: Certificate, reader: CertificateReader): void {
  const chain = chainOf(at, pemText(cert), reader);
  const [own] = chain;
  // Of another kind than these are: the runtime says what it thinks of it.
  if (own === undefined) return;
  const privateKey = keyOf(at, pemText(key), passphrase, reader);
  if (!own.checkPrivateKey(privateKey)) throw new TypeError(wrongPair(at, chain, privateKey));
  const late = chain.findIndex((one, i) => i > 0 && isBehindIts(one, chain, i));
  if (late !== -1) {
    const order = `number ${late + 1} signed one that follows it, and none before it`;
    throw new TypeError(`${at}.cert is not in the order of its signatures: ${order}`);
  }
  for (const [i, one] of chain.entries())
    warnOfTime(i === 0 ? `${at}.cert` : `certificate ${i + 1} of ${at}.cert`, one);
}

/** A block that is none of these, as `TRUSTED CERTIFICATE`, is left to the runtime. */
const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

function chainOf(at: string, text: string, { X509Certificate }: CertificateReader): readonly ParsedCertificate[] {
  const blocks = text.match(block) ?? [];
  return blocks.map((one, i) => {
    try {
      return new X509Certificate(one);
    } catch (error) {
      const which = blocks.length === 1 ? "it is not" : `block ${i + 1} is not`;
      throw new TypeError(`${at}.cert cannot be used: ${which} a certificate`, { cause: error });
    }
  });
}

function keyOf(at: string, text: string, passphrase: string | undefined, reader: CertificateReader): ParsedKey {
  try {
    return reader.createPrivateKey(passphrase === undefined ? text : { key: text, passphrase });
  } catch (error) {
    // The runtimes have other codes for it.
    const isEncrypted = /BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(text);
    const why = !isEncrypted
      ? "it is not a private key"
      : passphrase === undefined
        ? `it is encrypted, and ${at}.passphrase is missing`
        : `${at}.passphrase does not open it`;
    throw new TypeError(`${at}.key cannot be used: ${why}`, { cause: error });
  }
}

function wrongPair(at: string, chain: readonly ParsedCertificate[], key: ParsedKey): string {
  const place = chain.findIndex((one) => one.checkPrivateKey(key));
  if (place !== -1)
    return `${at}.cert must begin with the certificate of ${at}.key, which is number ${place + 1} of it`;
  const { asymmetricKeyType: kind } = key;
  const other = chain[0]?.publicKey.asymmetricKeyType;
  const kinds = kind === other ? "" : `: the key is of the kind ${kind}, and the certificate of ${other}`;
  return `${at}.key does not belong to ${at}.cert${kinds}`;
}

/** Whether a certificate signed a later one of its chain, and none before it. One that signed no other is only not needed. */
function isBehindIts(one: ParsedCertificate, chain: readonly ParsedCertificate[], place: number): boolean {
  const signed = (other: ParsedCertificate): boolean => other !== one && other.checkIssued(one);
  return !chain.slice(0, place).some(signed) && chain.slice(place + 1).some(signed);
}

function warnOfTime(which: string, { validFrom, validTo }: ParsedCertificate): void {
  const now = new Date();
  const isOver = now.getTime() > Date.parse(validTo);
  const isEarly = now.getTime() < Date.parse(validFrom);
  if (!isOver && !isEarly) return;
  const message = isOver ? `${which} has expired: ${validTo}` : `${which} is not valid yet: ${validFrom}`;
  log({ level: "warn", source: "framework.http", message, fields: {}, context: undefined });
}

function pemText(pem: string | Uint8Array): string {
  return typeof pem === "string" ? pem : new TextDecoder("latin1").decode(pem);
}

/** The certificate that a client showed in its TLS handshake. */
export interface PeerCertificate {
  /**
   * Whether one of `tls.clientCertificates.ca` had signed it, and it was valid, when the client connected. False only with
   * `required: false`: then anybody may have made it.
   */
  readonly authorized: boolean;
  /** The common name of its owner, `orders`; undefined where there is none, or more than one. */
  readonly commonName: string | undefined;
  /** Its owner, as RFC 4514 writes it: `CN=orders,OU=Services,O=Shop`. */
  readonly subject: string;
  /** The authority that signed it, likewise. */
  readonly issuer: string;
  /** In upper case, hexadecimal. An authority gives each certificate another one. */
  readonly serialNumber: string;
  /** The SHA-256 of the certificate: `B4:0A:…`, 32 bytes. */
  readonly fingerprint256: string;
  /** When it begins to be valid. */
  readonly validFrom: Date;
  /** When it ends. An open connection outlives it. */
  readonly validTo: Date;
  /** The certificate itself, for `new X509Certificate(der)` of `node:crypto`. Undefined on Workers. */
  readonly der: Uint8Array | undefined;
}

/** A request whose listener may know its client's certificate. */
export interface CertificateHolder {
  readonly peerCertificate?: PeerCertificate | undefined;
  /** On Workers, from `request.cf`. */
  readonly tlsClientAuth?: Partial<TlsClientAuth> | undefined;
}

/** The used part of what Cloudflare says of a certificate. All members are texts; they are empty where the client showed none. */
export interface TlsClientAuth {
  readonly certPresented: string;
  /** `SUCCESS`, or why not. */
  readonly certVerified: string;
  readonly certRevoked: string;
  readonly certSubjectDNRFC2253: string;
  readonly certIssuerDNRFC2253: string;
  readonly certSerial: string;
  readonly certFingerprintSHA256: string;
  /** `Dec 22 19:39:00 2018 GMT`. */
  readonly certNotBefore: string;
  readonly certNotAfter: string;
}

/** The client's certificate. What Cloudflare says is read here, so that a Worker without the input does not load it. */
export function certificateOf({ peerCertificate, tlsClientAuth }: CertificateHolder): PeerCertificate | undefined {
  if (tlsClientAuth?.certPresented !== "1") return peerCertificate;
  const { certSubjectDNRFC2253: subject = "", certIssuerDNRFC2253: issuer = "" } = tlsClientAuth;
  return {
    authorized: tlsClientAuth.certVerified === "SUCCESS" && tlsClientAuth.certRevoked !== "1",
    commonName: commonNameOf(subject),
    subject,
    issuer,
    serialNumber: (tlsClientAuth.certSerial ?? "").toUpperCase(),
    fingerprint256: colonPairs(tlsClientAuth.certFingerprintSHA256 ?? ""),
    validFrom: new Date(tlsClientAuth.certNotBefore ?? ""),
    validTo: new Date(tlsClientAuth.certNotAfter ?? ""),
    der: undefined,
  };
}

/** One attribute of a name, with the separator after it. */
const attribute = /([a-z][\w-]*|\d[\d.]*)=((?:[^\\,+]|\\.)*)(?:[,+]|$)/isy;

/** The common name of a name that is written as in RFC 4514. An escaped comma ends no attribute: `O=a\,CN=b` has no common name. */
export function commonNameOf(name: string): string | undefined {
  let found: string | undefined;
  attribute.lastIndex = 0;
  while (attribute.lastIndex < name.length) {
    const [, type, value] = attribute.exec(name) ?? [];
    if (type === undefined || value === undefined) return undefined;
    if (type.toUpperCase() !== "CN") continue;
    if (found !== undefined) return undefined;
    found = value;
  }
  return found === undefined ? undefined : unescaped(found);
}

/** `\2C` is a byte of UTF-8, and `\,` a character. */
function unescaped(value: string): string {
  return value.replace(/(?:\\[\da-f]{2})+|\\(.)/gis, (bytes: string, character: string | undefined) => {
    if (character !== undefined) return character;
    return new TextDecoder().decode(Uint8Array.from(bytes.slice(1).split("\\"), (pair) => Number.parseInt(pair, 16)));
  });
}

/** A number in hexadecimal as `B4:0A:…`. */
function colonPairs(hex: string): string {
  return (hex.toUpperCase().match(/../g) ?? []).join(":");
}

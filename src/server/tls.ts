import { isObject, kindOf, needs, needsObject, needsOptions, needsText } from "../arguments.ts";

/** A certificate and its key, as PEM: the text of the files, and not their paths. */
export interface Certificate {
  /** The server's certificate, then those of the authorities between it and the root. */
  readonly cert: string | Uint8Array;
  /** The private key of the certificate. */
  readonly key: string | Uint8Array;
  /** The passphrase of an encrypted key. */
  readonly passphrase?: string;
}

/** The certificates of a server. A client that names no server, or one without an entry in `names`, gets the first. */
export interface Certificates extends Certificate {
  /**
   * Other certificates by the name that a client asks for (SNI): `{ "shop.example": { cert, key } }`. `*.shop.example` is every
   * name one label longer. Not on Deno.
   */
  readonly names?: { readonly [serverName: string]: Certificate };
}

/** The option `tls` of `serve`. */
export interface TlsOptions extends Certificates {
  /** Asks clients for certificates, which the input `peerCertificate` gives. Only with `usher-http/node`, on Node. */
  readonly clientCertificates?: {
    /** The authorities that sign them, as PEM. */
    readonly ca: string | Uint8Array;
    /** Whether a client without a valid certificate is disconnected: true. */
    readonly required?: boolean;
  };
}

type Given = { readonly [member: string]: unknown };

/** Checks what JavaScript gets wrong in the option. Whether key and certificate fit, the listener checks. */
export function checkTls(at: string, tls: unknown): asserts tls is TlsOptions {
  needsObject(at, tls);
  const { clientCertificates } = tls as Given;
  needsOptions(at, tls, "cert key passphrase names clientCertificates");
  checkCertificates(at, tls as Given);
  if (clientCertificates === undefined) return;
  const asks = `${at}.clientCertificates`;
  needsObject(asks, clientCertificates);
  const { ca, required } = clientCertificates as Given;
  needsOptions(asks, clientCertificates, "ca required");
  needsPem(`${asks}.ca`, ca, "CERTIFICATE");
  needs(required === undefined || typeof required === "boolean", `${asks}.required`, required, "true or false");
}

/** Checks the certificates of a replacement. The authorities of clients stay: to name others is an error, and not ignored. */
export function checkReplacement(at: string, certificates: unknown): asserts certificates is Certificates {
  needsObject(at, certificates);
  needsOptions(at, certificates, "cert key passphrase names");
  checkCertificates(at, certificates as Given);
}

function checkCertificates(at: string, certificates: Given): void {
  const { names } = certificates;
  checkCertificate(at, certificates);
  if (names === undefined) return;
  needsObject(`${at}.names`, names);
  for (const [name, certificate] of Object.entries(names as Given)) {
    const each = `${at}.names[${JSON.stringify(name)}]`;
    needs(isServerName(name), each, name, "of a server's name in lower case: shop.example, *.shop.example");
    needsObject(each, certificate);
    needsOptions(each, certificate, "cert key passphrase");
    checkCertificate(each, certificate as Given);
  }
}

function checkCertificate(at: string, { cert, key, passphrase }: Given): void {
  needsPem(`${at}.cert`, cert, "CERTIFICATE");
  needsPem(`${at}.key`, key, "PRIVATE KEY");
  if (passphrase !== undefined) needsText(`${at}.passphrase`, passphrase);
}

function needsPem(at: string, value: unknown, label: string): void {
  needs(typeof value === "string" || value instanceof Uint8Array, at, value, "the text or the bytes of a PEM file");
  const text = typeof value === "string" ? value : new TextDecoder("latin1").decode(value as Uint8Array);
  if (text.includes("-----BEGIN ") && text.includes(`${label}-----`)) return;
  throw new TypeError(`${at} has no PEM block "${label}": give the content of the file, and not its path`);
}

function isServerName(name: string): boolean {
  return /^(?:\*\.)?[a-z\d_-]+(?:\.[a-z\d_-]+)*$/.test(name);
}

/**
 * Makes something of a certificate. What the runtime finds wrong becomes a sentence that names the option. An error of the
 * system stays as it is: Bun and Deno read the certificate and open the port in one call.
 */
export function withCertificate<A>(at: string, make: () => A): A {
  try {
    return make();
  } catch (error) {
    if (isObject(error) && isSystemCode(error["code"])) throw error;
    const why = isObject(error) && typeof error["message"] === "string" ? error["message"] : kindOf(error);
    throw new TypeError(`${at}: its cert and key cannot be used: ${why}`, { cause: error });
  }
}

// `EADDRINUSE`, where a library has codes such as `ERR_OSSL_X509_KEY_VALUES_MISMATCH`.
function isSystemCode(code: unknown): boolean {
  return typeof code === "string" && /^E[A-Z\d]+$/.test(code);
}

/** Throws for options that a runtime cannot keep, where ignoring them would make a server less strict. */
export function refuseTls(
  at: string,
  tls: TlsOptions | undefined,
  cannot: { readonly [option: string]: string },
): void {
  for (const [option, why] of Object.entries(cannot)) {
    if (tls !== undefined && option in tls) throw new TypeError(`${at}.${option} ${why}`);
  }
}

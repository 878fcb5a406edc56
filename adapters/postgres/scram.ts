/**
 * Signing in by SCRAM-SHA-256, with or without channel binding (RFC 5802, RFC 7677; PostgreSQL §54.3). The driver's own binds to no
 * channel, does not compare the server's nonce, and computes a proof while nothing else of the process runs.
 */
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import type { ChannelBinding } from "./connection-string.ts";
import { ProtocolViolation, message } from "./server-messages.ts";

const plain = "SCRAM-SHA-256";
const bound = "SCRAM-SHA-256-PLUS";

/** PostgreSQL's default is 4096. A server that lies could keep a thread busy with more. */
const maxIterations = 1_000_000;

const derived = /* @__PURE__ */ promisify(pbkdf2);

/** One run of it, on one connection. */
export class Scram {
  readonly #password: string;
  readonly #mode: ChannelBinding;
  readonly #socket: Socket;
  readonly #nonce: string = randomBytes(18).toString("base64");
  /** Its header, and the bytes that bind the proof to the channel (RFC 5802 §7). */
  #header = "n,,";
  #binding: Buffer = Buffer.alloc(0);
  #proof: Buffer = Buffer.alloc(0);

  constructor(password: string, mode: ChannelBinding, socket: Socket) {
    this.#password = password;
    this.#mode = mode;
    this.#socket = socket;
  }

  /** Answers the list of ways that the server offers. @throws ProtocolViolation where none of them will do. */
  begin(body: string): Buffer {
    const offered = body.split("\0");
    const certificate = this.#mode === "disable" ? undefined : certificateHash(this.#socket);
    const isBound = certificate !== undefined && offered.includes(bound);
    if (this.#mode === "require" && !isBound) {
      const why =
        certificate === undefined ? "the connection has no certificate to bind to" : "the server does not offer it";
      throw new ProtocolViolation(`channel_binding is require, and ${why}`);
    }
    if (!isBound && !offered.includes(plain))
      throw new ProtocolViolation("the server offers no SCRAM-SHA-256 to sign in with");
    if (isBound) {
      this.#header = "p=tls-server-end-point,,";
      this.#binding = certificate;
      // A server that does offer it would know that someone between has taken it away.
    } else if (certificate !== undefined) this.#header = "y,,";
    const first = Buffer.from(`${this.#header}${this.#first}`);
    const length = Buffer.alloc(4);
    length.writeInt32BE(first.length);
    return message("p", Buffer.from(`${isBound ? bound : plain}\0`), length, first);
  }

  // The server takes the user from StartupMessage.
  get #first(): string {
    return `n=*,r=${this.#nonce}`;
  }

  /** Throws a ProtocolViolation unless the server proves that it knows the password. */
  verify(body: string): void {
    const proof = Buffer.from(/^v=([\w+/]+={0,2})$/.exec(body)?.[1] ?? "", "base64");
    if (proof.length === this.#proof.length && timingSafeEqual(proof, this.#proof)) return;
    throw new ProtocolViolation("the server did not prove that it knows the password");
  }

  /** Answers the challenge. @throws ProtocolViolation where it is not of this run, or asks for too much. */
  async continue(challenge: string): Promise<Buffer> {
    const parts = /^r=([!-+\--~]+),s=([\w+/]+={0,2}),i=(\d{1,10})$/.exec(challenge);
    const [, nonce = "", salt = "", digits = ""] = parts ?? [];
    const iterations = Number(digits);
    const isFresh = nonce.length > this.#nonce.length && nonce.startsWith(this.#nonce);
    if (!isFresh || iterations < 1)
      throw new ProtocolViolation("the server sent a challenge of SCRAM that cannot be read");
    if (iterations > maxIterations)
      throw new ProtocolViolation(`the server asks for ${digits} rounds of SCRAM where ${maxIterations} are the most`);
    const salted = await derived(this.#password, Buffer.from(salt, "base64"), iterations, 32, "sha256");
    const channel = Buffer.concat([Buffer.from(this.#header), this.#binding]).toString("base64");
    const last = `c=${channel},r=${nonce}`;
    const exchange = `${this.#first},${challenge},${last}`;
    const clientKey = hmac(salted, "Client Key");
    const signature = hmac(createHash("sha256").update(clientKey).digest(), exchange);
    const proof = clientKey.map((byte, at) => byte ^ (signature[at] as number));
    this.#proof = hmac(hmac(salted, "Server Key"), exchange);
    return message("p", Buffer.from(`${last},p=${Buffer.from(proof).toString("base64")}`));
  }
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

/** The hash of the server's certificate (RFC 5929 §4.1); undefined without one, or where the runtime does not give it. */
function certificateHash(socket: Socket): Buffer | undefined {
  const { getPeerCertificate } = socket as { readonly getPeerCertificate?: () => { readonly raw?: Uint8Array } };
  const raw = getPeerCertificate?.call(socket)?.raw;
  if (raw === undefined) return undefined;
  const algorithm = hashOf(Buffer.from(raw));
  return algorithm === undefined ? undefined : createHash(algorithm).update(raw).digest();
}

/** The hashes of signature algorithms, by the DER of their identifiers. MD5 and SHA-1 are replaced by SHA-256 (RFC 5929 §4.1). */
const signatures: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ["2a864886f70d010104", "sha256"],
  ["2a864886f70d010105", "sha256"],
  ["2a864886f70d01010e", "sha224"],
  ["2a864886f70d01010b", "sha256"],
  ["2a864886f70d01010c", "sha384"],
  ["2a864886f70d01010d", "sha512"],
  ["2a8648ce3d0401", "sha256"],
  ["2a8648ce3d040301", "sha224"],
  ["2a8648ce3d040302", "sha256"],
  ["2a8648ce3d040303", "sha384"],
  ["2a8648ce3d040304", "sha512"],
]);

/** The hash of a certificate's signature: its second field, a sequence that begins with an identifier (RFC 5280 §4.1). */
function hashOf(certificate: Buffer): string | undefined {
  const [, body] = field(certificate, 0);
  const [afterSigned] = field(certificate, body);
  const [, algorithm] = field(certificate, afterSigned);
  const [end, start] = field(certificate, algorithm);
  return signatures.get(certificate.toString("hex", start, end));
}

/** Where a field of DER ends, and where its content starts. */
function field(bytes: Buffer, at: number): readonly [end: number, start: number] {
  const length = bytes[at + 1] ?? 0;
  if (length < 0x80) return [at + 2 + length, at + 2];
  const size = length & 0x7f;
  const start = at + 2 + size;
  return [start + (size === 0 || size > 4 ? 0 : bytes.readUIntBE(at + 2, size)), start];
}

/** HTTPS. Only a server with the option `tls` loads this. */
import * as crypto from "node:crypto";
import type { Server as HttpServer, ServerOptions } from "node:http";
import { createServer } from "node:https";
import type { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import type { SecureContext, SecureContextOptions, TLSSocket } from "node:tls";
import { guarded } from "../../src/doors/logging.ts";
import { CountedLog } from "../../src/doors/apps.ts";
import { checkFit, checkReplacement, withCertificate } from "../../src/doors/server.ts";
import type { Certificate, Certificates, TlsOptions } from "../../src/doors/server.ts";
import { nodeMajor } from "./listen.ts";
import { belowTls } from "./private.ts";

interface SecureLimits {
  readonly headTimeoutMs: number;
  /** What a client may choose from when it connects (RFC 7301). */
  readonly protocols: readonly string[];
}

/** What TLS adds to a listener: its servers, their certificates, and the connections whose handshake may not be over. */
export class Secure {
  readonly #tls: TlsOptions;
  readonly #limits: SecureLimits;
  readonly #servers: { setSecureContext(options: SecureContextOptions): void }[] = [];
  readonly #failed = new CountedLog("info", "TLS handshakes that failed");
  readonly #handshaking = new Set<Socket>();
  /** The number of connections. */
  size = 0;
  #first: SecureContextOptions;
  #names: ReadonlyMap<string, SecureContext>;

  constructor(tls: TlsOptions, limits: SecureLimits) {
    this.#tls = tls;
    this.#limits = limits;
    checkFit("serve: tls", tls, crypto);
    this.#names = this.#contexts("serve: tls", tls);
    this.#first = this.#options(tls);
  }

  /** A server of `node:https`, with the options of `node:http`. */
  server(options: ServerOptions): HttpServer {
    const { clientCertificates } = this.#tls;
    const required = {
      requestCert: clientCertificates !== undefined,
      rejectUnauthorized: clientCertificates !== undefined && clientCertificates.required !== false,
    };
    const server = createServer({
      ...options,
      ...this.#first,
      ...required,
      SNICallback: (name, found) => found(null, this.#find(name)),
      ALPNProtocols: [...this.#limits.protocols],
      handshakeTimeout: this.#limits.headTimeoutMs,
      // Otherwise a client that leaves during its handshake is noticed by `handshakeTimeout` alone.
      allowHalfOpen: false,
      noDelay: true,
    } as Parameters<typeof createServer>[0]);
    server.on(
      "tlsClientError",
      guarded(undefined, () => this.#failed.count()),
    );
    this.#servers.push(server);
    return server;
  }

  /** Throws for certificates that cannot be used. */
  replace(certificates: Certificates): void {
    const at = "replaceCertificates";
    checkReplacement(at, certificates);
    checkFit(at, certificates, crypto);
    const names = this.#contexts(at, certificates);
    this.#first = this.#options(certificates);
    this.#names = names;
    for (const server of this.#servers) server.setSecureContext(this.#first);
  }

  /** A connection was accepted, and its handshake begins. */
  handshakeBegan(socket: Socket): void {
    this.size++;
    this.#handshaking.add(socket);
    socket.on("close", () => {
      this.size--;
      this.#handshaking.delete(socket);
    });
  }

  /** The handshake of a connection is over. */
  handshakeEnded(socket: TLSSocket): void {
    // As the connections of `node:http` are.
    socket.allowHalfOpen = true;
    // Node checks a client's certificate once, and with TLS 1.2 a client could show another one later. Deno has no such method.
    if (nodeMajor > 0) socket.disableRenegotiation();
    const below = belowTls(socket);
    if (below !== undefined) this.#handshaking.delete(below);
  }

  /** Ends the connections whose handshake is not over. */
  endHandshakes(): void {
    for (const socket of this.#handshaking) socket.destroy();
  }

  stop(): void {
    this.#failed.stop();
  }

  #options({ cert, key, passphrase }: Certificate): SecureContextOptions {
    const { clientCertificates } = this.#tls;
    return {
      cert: pem(cert),
      key: pem(key),
      ...(passphrase === undefined ? {} : { passphrase }),
      // Each context checks the certificates of its clients.
      ...(clientCertificates === undefined ? {} : { ca: pem(clientCertificates.ca) }),
    };
  }

  /** The contexts by name. Makes that of the first certificate too, which throws where it cannot be used. */
  #contexts(at: string, { names = {}, ...first }: Certificates): ReadonlyMap<string, SecureContext> {
    const contextOf = (at: string, certificate: Certificate): SecureContext =>
      withCertificate(at, () => createSecureContext(this.#options(certificate)));
    contextOf(at, first);
    return new Map(
      Object.entries(names).map(([name, one]) => [name, contextOf(`${at}.names[${JSON.stringify(name)}]`, one)]),
    );
  }

  /** Undefined for a name without an entry: the server's own context is used. */
  #find(name: string): SecureContext | undefined {
    if (this.#names.size === 0) return undefined;
    const lower = name.toLowerCase();
    return this.#names.get(lower) ?? this.#names.get(`*${lower.slice(lower.indexOf("."))}`);
  }
}

function pem(text: string | Uint8Array): string | Buffer {
  return typeof text === "string" ? text : Buffer.from(text);
}

import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { commonNameOf } from "../../src/doors/inputs.ts";
import type { PeerCertificate } from "../../src/doors/inputs.ts";
import { isEncrypted } from "./connection.ts";
import { nodeMajor } from "./listen.ts";

/** Read once for a connection: null where its client showed none. */
const read = new WeakMap<Socket, PeerCertificate | null>();

/** The certificate of a connection's client; undefined where it showed none, or was not asked for one. */
export function peerCertificateOf(socket: Socket): PeerCertificate | undefined {
  let certificate = read.get(socket);
  if (certificate === undefined) {
    certificate = (isEncrypted(socket) ? certificateOf(socket as TLSSocket) : undefined) ?? null;
    read.set(socket, certificate);
  }
  return certificate ?? undefined;
}

function certificateOf(socket: TLSSocket): PeerCertificate | undefined {
  // Deno does not escape the commas of a name, so that a client could choose another name by them.
  if (nodeMajor === 0) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const { serialNumber, fingerprint256, validFrom, validTo, raw } = certificate;
  const subject = distinguishedName(certificate.subject);
  return {
    authorized: socket.authorized,
    commonName: commonNameOf(subject),
    subject,
    issuer: distinguishedName(certificate.issuer),
    serialNumber,
    fingerprint256,
    validFrom: new Date(validFrom),
    validTo: new Date(validTo),
    der: new Uint8Array(raw),
  };
}

/** Node writes an attribute in a line, the most general first, and escapes them as RFC 4514 says. */
function distinguishedName(lines: string | undefined): string {
  const attributes = (lines ?? "").split("\n").map((line) => line.replaceAll(" + ", "+"));
  return attributes.toReversed().join(",");
}

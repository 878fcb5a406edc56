import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { connect, isIP } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import type { ConnectionOptions } from "node:tls";
import type { Tls } from "./conninfo.ts";

/** One place a server may be: an address, or the path of a Unix socket. */
export type Address =
  | { readonly host: string; readonly address: string; readonly port: number }
  | { readonly path: string };

/** Every address of a host. */
export async function addressesOf(host: string, port: number): Promise<readonly Address[]> {
  if (host.startsWith("/")) return [{ path: join(host, `.s.PGSQL.${port}`) }];
  if (isIP(host) !== 0) return [{ host, address: host, port }];
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => ({ host, address, port }));
}

/** Connects and, where it is asked for, encrypts. Every socket is told of before anything waits, so that it can be ended. */
export async function dial(address: Address, tls: Tls, dialled: (socket: Socket) => void): Promise<Socket> {
  const socket = "path" in address ? connect(address.path) : connect(address.port, address.address);
  dialled(socket);
  await once(socket, "connect");
  // Statements are small and waited for (Nagle's delay would be theirs).
  if ("path" in address) return socket;
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  return tls.mode === "disable" ? socket : secured(socket, address.host, tls, dialled);
}

const request = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** Asks for encryption, and has it (PostgreSQL §54.2.10). */
async function secured(socket: Socket, host: string, tls: Tls, dialled: (socket: Socket) => void): Promise<Socket> {
  socket.write(request);
  const answer = await firstBytes(socket);
  // More than one byte was sent by somebody who stands in between, to be taken for what comes encrypted.
  if (answer.length !== 1) throw new Error("the server answered more than was asked before encryption began");
  if (answer[0] !== 0x53) {
    if (tls.mode === "prefer") return socket;
    throw new Error("the server does not encrypt");
  }
  const encrypted = connectTls({ socket, ...tlsOptions(host, tls) });
  dialled(encrypted);
  await once(encrypted, "secureConnect");
  return encrypted;
}

// Bun and Deno take no member that is undefined.
function tlsOptions(host: string, tls: Tls): ConnectionOptions {
  const { mode, rootCertificate, certificate, key } = tls;
  const isVerified =
    mode === "verify-ca" || mode === "verify-full" || (rootCertificate !== undefined && mode === "require");
  return {
    ALPNProtocols: ["postgresql"],
    rejectUnauthorized: isVerified,
    // Whom the certificate must name: left out, it may as well name localhost.
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(mode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
    ...(rootCertificate === undefined || rootCertificate === "system" ? {} : { ca: readFileSync(rootCertificate) }),
    ...(certificate === undefined ? {} : { cert: readFileSync(certificate) }),
    ...(key === undefined ? {} : { key: readFileSync(key) }),
  };
}

function firstBytes(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => (): void => {
      socket.off("readable", read).off("error", failed).off("close", closed);
      act();
    };
    const failed = (error: Error): void => settle(() => reject(error))();
    const closed = settle(() => reject(new Error("the server closed the connection")));
    const read = (): void => {
      const bytes = socket.read() as Buffer | null;
      if (bytes !== null) settle(() => resolve(bytes))();
    };
    socket.on("readable", read).on("error", failed).on("close", closed);
  });
}

function once(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => (): void => {
      socket.off(event, done).off("error", failed).off("close", closed);
      act();
    };
    const done = settle(resolve);
    const failed = (error: Error): void => settle(() => reject(error))();
    const closed = settle(() => reject(new Error("the server closed the connection")));
    socket.on(event, done).on("error", failed).on("close", closed);
  });
}

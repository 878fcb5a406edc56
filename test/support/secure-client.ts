/** Asks an HTTPS server one request, on a connection of its own, and says what certificate it showed. */
import { once } from "node:events";
import { request } from "node:https";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { connect } from "node:tls";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { endsWithTest } from "./ends.ts";

export interface SecureAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The common name of the server's certificate. */
  readonly shown: string;
}

const open: TLSSocket[] = [];
endsWithTest(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

export async function secureAsk(
  port: number,
  path: string,
  options: ConnectionOptions & { readonly method?: string; readonly headers?: Record<string, string> } = {},
): Promise<SecureAnswer> {
  const sent = request({ host: "127.0.0.1", port, path, agent: false, ...options });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const shown = String((response.socket as TLSSocket).getPeerCertificate().subject.CN);
  let body = "";
  for await (const part of response.setEncoding("utf8")) body += part as string;
  return { status: response.statusCode ?? 0, headers: response.headers, body, shown };
}

/** A connection whose handshake is over. */
export async function secureSocket(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port, ...options });
  open.push(socket);
  // A reset is an end like any other.
  socket.on("error", () => {});
  await once(socket, "secureConnect");
  return socket;
}

/** Everything that comes until the server ends the connection. */
export async function untilEnd(socket: TLSSocket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => (text += part));
  await once(socket, "close");
  return text;
}

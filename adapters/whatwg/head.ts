import { HostCheck } from "../../src/app/refused-head.ts";
import type { RefusedHead } from "../../src/app/refused-head.ts";
import type { Node } from "./node.ts";

const severalHosts: RefusedHead = { status: 400, why: "more than one Host" };
const badHost: RefusedHead = { status: 400, why: "a Host that is none" };
const hosts: HostCheck = new HostCheck();

/**
 * What is wrong with the host of a head, which a server of `node:http` lets pass (RFC 9112 §3.2). HTTP/2 has a name of
 * its own for it, and need not send the other.
 */
export function refusedHost({ req }: Node): RefusedHead | undefined {
  const { rawHeaders } = req;
  let host: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name !== ":authority" && (name.length !== 4 || name.toLowerCase() !== "host")) continue;
    const value = rawHeaders[i + 1] as string;
    if (host !== undefined && (req.httpVersionMajor === 1 || value !== host)) return severalHosts;
    host = value;
  }
  return hosts.isHost(host ?? "") ? undefined : badHost;
}

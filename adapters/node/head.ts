import type { IncomingMessage } from "node:http";
import { isHost } from "../../src/app/authority.ts";
import type { RefusedHead } from "../../src/app/refused-head.ts";

/** How a body's end is told: by its length, 0 where there is none, or by its chunks. */
export type Framing = number | "chunked";

const bad = (why: string): RefusedHead => ({ status: 400, why });
const noVersion = bad("a request line without a version");
const otherVersion: RefusedHead = { status: 505, why: "a version of HTTP that is not 1" };
const noHost = bad("HTTP/1.1 without a Host");
const severalHosts = bad("more than one Host");
const badHost = bad("a Host that is none");
const badTarget = bad("a target that is none");
const badLength = bad("a length of more than 18 digits");
const unknownFraming = bad("a body that nothing tells the end of");
const codedBody: RefusedHead = { status: 501, why: "a transfer coding that is not chunked" };

/** What was a `Host` last: that nearly every request has the same spares it the reading. */
let lastHost = "";

/**
 * Reads of a head what Node's parser leaves to others: how its body is framed (RFC 9112 §6.3), and whether it is one at
 * all (§3.2, §2.3). One walk over its fields, by their lengths first: most are none of these.
 */
export function readHead(request: IncomingMessage): Framing | RefusedHead {
  const { rawHeaders, httpVersionMajor } = request;
  let framing: Framing | RefusedHead = 0;
  let hosts = 0;
  let host = "";
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const { length } = name;
    if (length === 4) {
      if (name !== "Host" && name !== "host" && name.toLowerCase() !== "host") continue;
      host = rawHeaders[i + 1] as string;
      hosts++;
    } else if (length === 14) {
      if (name === "content-length" || name.toLowerCase() === "content-length")
        framing = lengthOf(rawHeaders[i + 1] as string);
    } else if (length === 17 && name.toLowerCase() === "transfer-encoding") {
      framing = framingBy(rawHeaders[i + 1] as string, framing !== 0);
    }
  }
  if (httpVersionMajor !== 1) return httpVersionMajor === 0 ? noVersion : otherVersion;
  if (hosts !== 1) {
    if (hosts > 1) return severalHosts;
    if (request.httpVersionMinor > 0) return noHost;
  } else if (host !== lastHost) {
    if (!isHost(host)) return badHost;
    lastHost = host;
  }
  const target = request.url as string;
  return target.charCodeAt(0) === 0x2f || isTarget(target, request.method) ? framing : badTarget;
}

// One that does not begin with a slash: everything, or absolute, where userinfo is how one host is passed off as another
// (RFC 9110 §4.2.4).
function isTarget(target: string, method: string | undefined): boolean {
  if (target === "*") return method === "OPTIONS";
  if (method === "CONNECT") return true;
  const authority = /^[a-z][a-z\d+.-]*:\/\/([^/?#]+)/i.exec(target)?.[1];
  return authority !== undefined && isHost(authority);
}

// What is longer is no number any more that can be counted to.
function lengthOf(digits: string): Framing | RefusedHead {
  return digits.length > 18 ? badLength : Number(digits);
}

// That no length stands beside it, Node's parser saw to.
function framingBy(codings: string, isUnderOthers: boolean): Framing | RefusedHead {
  const listed = codings.toLowerCase().split(",");
  if (listed.at(-1)?.trim() !== "chunked") return unknownFraming;
  return listed.length > 1 || isUnderOthers ? codedBody : "chunked";
}

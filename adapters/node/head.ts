import type { IncomingMessage } from "node:http";
import { isHost } from "../../src/http/target.ts";
import type { RefusedHead } from "../../src/server/bad-request.ts";

/** How a body is framed: by its length, 0 without a body, or in chunks. */
export type Framing = number | "chunked";

const bad = (why: string): RefusedHead => ({ status: 400, why });
const noVersion = bad("a request line without a version");
const otherVersion: RefusedHead = { status: 505, why: "a version of HTTP that is not 1" };
const noHost = bad("HTTP/1.1 without a Host");
const severalHosts = bad("more than one Host");
const badHost = bad("a Host that is none");
const badTarget = bad("a target that is none");
const badLength = bad("a length of more than 18 digits");
const severalLengths = bad("more than one length");
const twoFramings = bad("a body with a length and a transfer coding");
const unknownFraming = bad("a body that nothing tells the end of");
const codedBody: RefusedHead = { status: 501, why: "a transfer coding that is not chunked" };

/** The last valid `Host`: nearly every request has the same one, which is then not parsed. */
let lastHost = "";

/**
 * Checks what Node's parser leaves open: how the body is framed (RFC 9112 §6.3), and whether the head is valid (§3.2, §2.3).
 * One pass over the fields, comparing their lengths first, because most are none of these.
 */
export function readHead(request: IncomingMessage): Framing | RefusedHead {
  const { rawHeaders, httpVersionMajor } = request;
  let bodyLength: Framing | RefusedHead | undefined;
  let codings: string | undefined;
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
        bodyLength = lengthOf(rawHeaders[i + 1] as string, bodyLength);
    } else if (length === 17 && name.toLowerCase() === "transfer-encoding") {
      const value = rawHeaders[i + 1] as string;
      codings = codings === undefined ? value : `${codings},${value}`;
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
  if (target.charCodeAt(0) !== 0x2f && !isTarget(target, request.method)) return badTarget;
  if (codings === undefined) return bodyLength ?? 0;
  return bodyLength === undefined ? framingBy(codings) : twoFramings;
}

// A target without a leading slash: `*`, or an absolute one. Userinfo could disguise one host as another (RFC 9110 §4.2.4).
function isTarget(target: string, method: string | undefined): boolean {
  if (target === "*") return method === "OPTIONS";
  if (method === "CONNECT") return true;
  const authority = /^[a-z][a-z\d+.-]*:\/\/([^/?#]+)/i.exec(target)?.[1];
  return authority !== undefined && isHost(authority);
}

/** @param before The value of an earlier line. Node's parser refuses a second line, other runtimes may not. */
function lengthOf(digits: string, before: Framing | RefusedHead | undefined): Framing | RefusedHead {
  // Longer numbers are not exact.
  if (digits.length > 18) return badLength;
  return before === undefined || before === Number(digits) ? Number(digits) : severalLengths;
}

// HTTP's white space is only SP and HTAB (RFC 9110 §5.6.3); `trim` removes more.
const chunked = /^[\t ]*chunked[\t ]*$/i;
const nothing = /^[\t ]*$/;

/**
 * The framing by the transfer codings of all lines. Node's parser uses the last one too, so `chunked` must be last. An empty
 * element before it does not count (RFC 9110 §5.6.1.2).
 */
function framingBy(codings: string): Framing | RefusedHead {
  if (codings === "chunked") return "chunked";
  const listed = codings.split(",");
  if (!chunked.test(listed.at(-1) as string)) return unknownFraming;
  const others = listed.slice(0, -1).filter((coding) => !nothing.test(coding));
  if (others.length === 0) return "chunked";
  return others.some((coding) => chunked.test(coding)) ? unknownFraming : codedBody;
}

import type { IncomingMessage } from "node:http";
import { isHost } from "../../src/http/target.ts";
import type { RefusedHead } from "../../src/server/bad-request.ts";

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
const severalLengths = bad("more than one length");
const twoFramings = bad("a body with a length and a transfer coding");
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

// One that does not begin with a slash: everything, or absolute, where userinfo is how one host is passed off as another
// (RFC 9110 §4.2.4).
function isTarget(target: string, method: string | undefined): boolean {
  if (target === "*") return method === "OPTIONS";
  if (method === "CONNECT") return true;
  const authority = /^[a-z][a-z\d+.-]*:\/\/([^/?#]+)/i.exec(target)?.[1];
  return authority !== undefined && isHost(authority);
}

/** @param before What the line before it said. Node's parser refuses a second line, others need not. */
function lengthOf(digits: string, before: Framing | RefusedHead | undefined): Framing | RefusedHead {
  // What is longer is no number any more that can be counted to.
  if (digits.length > 18) return badLength;
  return before === undefined || before === Number(digits) ? Number(digits) : severalLengths;
}

// HTTP's white space is SP and HTAB alone (RFC 9110 §5.6.3): the language trims more.
const chunked = /^[\t ]*chunked[\t ]*$/i;
const nothing = /^[\t ]*$/;

/**
 * How a body's end is told by its codings, of every line. Node's parser has the last one too, so nothing may stand behind it;
 * an empty element before it is none (RFC 9110 §5.6.1.2).
 */
function framingBy(codings: string): Framing | RefusedHead {
  if (codings === "chunked") return "chunked";
  const listed = codings.split(",");
  if (!chunked.test(listed.at(-1) as string)) return unknownFraming;
  const others = listed.slice(0, -1).filter((coding) => !nothing.test(coding));
  if (others.length === 0) return "chunked";
  return others.some((coding) => chunked.test(coding)) ? unknownFraming : codedBody;
}

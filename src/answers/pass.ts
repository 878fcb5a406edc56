import { isObject, needs } from "../arguments.ts";
import { connectionFields } from "../http/connection-fields.ts";
import { contentLengthOf, fieldsOf, itemsOf } from "../http/fields.ts";
import { isWorkers } from "../runtime.ts";
import { InvalidAnswerError, none } from "../refusals.ts";
import type { Answer } from "../exchange/answer.ts";
import { responseBody } from "./response-body.ts";

/** Fields of a proxy's own connection, and those that the framework writes itself. */
const notPassed: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "proxy-authenticate",
  "proxy-authentication-info",
  "date",
  "x-request-id",
]);

/**
 * A `Response` of other code as the answer: of `fetch`, of a library, of another app's handler. Its status, its headers and each
 * `Set-Cookie` line stay; its body is sent as it arrives, and is cancelled if the client leaves.
 *
 * What is left out: the fields of one connection (RFC 9110 §7.6.1) and those that `Connection` names, `Date` and `X-Request-Id`, which
 * are the app's own. Of a body that `fetch` has decoded, also `Content-Encoding` and `Content-Length`; its strong `ETag` becomes weak,
 * as it names the encoded bytes. A copy of such a response, `new Response(fetched.body, fetched)`, says `gzip` of bytes that are not:
 * pass on the fetched response itself.
 *
 * @throws InvalidAnswerError For what is no `Response`, for one whose body is read already or being read, and for a 101.
 * @example
 * ```ts
 * const feed = get(Path.of("feed"), { returns: Returns.response }, async () =>
 *   Answer.pass(await fetch("https://news.example/feed.xml")),
 * );
 * ```
 */
export function pass(response: Response): Answer {
  needs(isResponse(response), "Answer.pass: it", response, "a Response");
  if (response.bodyUsed) throw new InvalidAnswerError("a Response whose body is read already");
  if (response.body?.locked === true) throw new InvalidAnswerError("a Response whose body other code reads");
  if (response.status === 101) {
    throw new InvalidAnswerError(
      "a Response of status 101: only a route with Returns.websocket or Answer.takeover changes the protocol",
    );
  }
  const connection = response.headers.get("connection");
  const isOfConnection = connectionFields(connection === null ? none : [connection]);
  const isDecoded = wasDecoded(response);
  const headers: (readonly [string, string])[] = [];
  let contentType: string | undefined;
  let length: number | undefined;
  for (const [sent, value] of fieldsOf(response.headers)) {
    // Those of a package's own `Response` may be as they were written.
    const name = sent.toLowerCase();
    if (notPassed.has(name) || isOfConnection(name) || name === "set-cookie") continue;
    if (name === "content-type") contentType = value;
    else if (name === "content-length") length = isDecoded ? undefined : contentLengthOf(value);
    else if (name === "etag" && isDecoded && value.startsWith('"')) headers.push([name, `W/${value}`]);
    else if (name !== "content-encoding" || !isDecoded) headers.push([name, value]);
  }
  // Not every runtime's iteration keeps the lines apart.
  for (const line of response.headers.getSetCookie()) headers.push(["set-cookie", line]);
  const { status, body } = response;
  return {
    status,
    ...(contentType === undefined ? {} : { contentType }),
    headers,
    cookies: none,
    body: body === null ? undefined : responseBody(response, contentType, length),
    closes: false,
    passed: { length },
  };
}

// Another copy of the class is as good: a package of `fetch` has its own, and so has another realm.
export function isResponse(value: unknown): value is Response {
  if (value instanceof Response) return true;
  if (!isObject(value)) return false;
  const { status, headers, body } = value;
  if (typeof status !== "number" || !isObject(headers) || typeof headers["getSetCookie"] !== "function") return false;
  return body === null || (isObject(body) && typeof body["getReader"] === "function");
}

/**
 * Whether the body has been decoded, though the headers still say how it was encoded. Only what `fetch` got has an address. Each runtime
 * decodes other codings: a test reads all of them on each.
 */
function wasDecoded(response: Response): boolean {
  const value = response.headers.get("content-encoding");
  if (value === null || response.url === "" || response.url === undefined) return false;
  // workerd compares them as text, and decodes no `GZIP`.
  if (isWorkers()) return value === "gzip" || value === "br";
  const codings = itemsOf([value]).map((coding) => coding.toLowerCase());
  const { isList, decodes } = decoding();
  return (isList || codings.length === 1) && codings.every((coding) => decodes.includes(coding));
}

/** What `fetch` of this runtime decodes, and whether it decodes one coding over another. */
function decoding(): { readonly isList: boolean; readonly decodes: readonly string[] } {
  if ("Bun" in globalThis) return { isList: false, decodes: ["gzip", "x-gzip", "deflate", "br", "zstd"] };
  if ("Deno" in globalThis) return { isList: false, decodes: ["gzip", "br"] };
  const { process } = globalThis as { readonly process?: { readonly versions?: { readonly undici?: string } } };
  const major = Number.parseInt(process?.versions?.undici ?? "", 10);
  return { isList: true, decodes: ["gzip", "x-gzip", "deflate", "br", ...(major >= 7 ? ["zstd"] : [])] };
}

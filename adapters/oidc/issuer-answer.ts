import type { HttpClient, HttpClientInit } from "../../src/client/http-client.ts";

/** What a call of an endpoint gave: an answer, the head of one that could not be read, or nothing. */
export type IssuerAnswer =
  | { readonly status: number; readonly headers: Headers; readonly text: string }
  | { readonly status: number; readonly headers: Headers; readonly text: undefined }
  | { readonly status: undefined; readonly headers: undefined; readonly text: undefined; readonly wasSent: boolean };

/** Reads the whole answer, so that one that is cut off is known at once. Never rejects. */
export async function askIssuer(http: HttpClient, url: URL, init: HttpClientInit): Promise<IssuerAnswer> {
  let response: Response;
  try {
    response = await http.fetch(url, init);
  } catch (thrown) {
    return { status: undefined, headers: undefined, text: undefined, wasSent: !isUnsent(thrown) };
  }
  const { status, headers } = response;
  return { status, headers, text: await response.text().catch(() => undefined) };
}

/** The codes of errors from before a connection was open: of Node, and of Bun. Deno has none, and tells nothing apart. */
const unsentCodes: ReadonlySet<unknown> = new Set([
  "ConnectionRefused",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "FailedToOpenSocket",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Whether a request surely never left. `fetch` of Node wraps the error, and one for each address in an `AggregateError`. */
function isUnsent(thrown: unknown): boolean {
  const { code, cause } = (thrown ?? {}) as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  return unsentCodes.has(code) || unsentCodes.has(cause?.code);
}

/** Whether the issuer is busy or broken, and must rest: not where it refuses what it was sent. */
export function isFailure({ status, headers, text }: IssuerAnswer): boolean {
  if (text === undefined || status === 408 || status === 429 || status >= 500) return true;
  // No endpoint redirects: it would be the page of a gateway.
  if (status >= 300) return status < 400;
  return !isReadable(headers, text);
}

/** JSON, or claims that are signed, as an issuer's UserInfo may be. */
function isReadable(headers: Headers, text: string): boolean {
  if (/^application\/jwt\b/i.test(headers.get("content-type") ?? "")) return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether the issuer may have acted on the request, so that a refresh token which rotates is spent (RFC 9700 §4.14.2). */
export function mayBeTaken(answer: IssuerAnswer): boolean {
  if (answer.status === undefined) return answer.wasSent;
  // A gateway may say 500, 502 or 504 for an issuer whose answer it lost; 503 says that it did not handle the request.
  return answer.status < 300 || (answer.status >= 500 && answer.status !== 503);
}

export function awayBecause({ status }: IssuerAnswer): string {
  return status === undefined
    ? "the issuer cannot be reached, or does not answer in time"
    : "the answer of the issuer could not be read: too long or cut short";
}

/**
 * Sends a request by the platform's `fetch`, once more where its connection closed before an answer came and asking twice
 * does no harm: a server closes a kept connection when it likes, also as a request is on its way (RFC 9112 §9.3.1).
 */
export async function send(url: URL, asked: RequestInit): Promise<Response> {
  try {
    return checked(await fetch(url, asked));
  } catch (thrown) {
    if (!isSafe(asked) || !metClose(thrown) || asked.signal?.aborted) throw thrown;
    return checked(await fetch(url, asked));
  }
}

function isSafe({ method = "GET", body }: RequestInit): boolean {
  return /^(get|head)$/i.test(method) && (body === undefined || body === null);
}

// What Node and Bun say; Deno sends it again by itself.
const closes: ReadonlySet<unknown> = /* @__PURE__ */ new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

function metClose(thrown: unknown): boolean {
  const { code, cause } = (thrown ?? {}) as { readonly code?: unknown; readonly cause?: unknown };
  return closes.has(code) || closes.has((cause as { readonly code?: unknown } | undefined)?.code);
}

/** What not every platform refuses: a body of two lengths (RFC 9112 §6.3), and a status that is none. */
function checked(response: Response): Response {
  const { status, headers, body } = response;
  const isFramedTwice = headers.has("transfer-encoding") && headers.has("content-length");
  if (!isFramedTwice && status >= 200 && status <= 599) return response;
  body?.cancel().catch(() => {});
  throw new TypeError("Client.fetch: what answers does not speak HTTP");
}

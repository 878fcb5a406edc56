import { ambient } from "../ambient.ts";
import { askingForTextKinds } from "../events/text-kinds.ts";
import type { BodyToSend } from "../inputs/body-inputs.ts";
import { wirePairs } from "../inputs/wire-write.ts";
import type { WirePair } from "../inputs/wire-write.ts";
import type { Problem } from "../refusals.ts";
import type { ClientRoute } from "../routing/route.ts";
import type { Client, ClientOptions, RefusalRead, UntypedRoute } from "./calls.ts";
import type { SocketParts } from "./open-socket.ts";
import type { CallResult, LinesToSend } from "./received.ts";

/** The inputs of a call. */
interface RequestParts {
  readonly path?: RequestFields;
  readonly query?: RequestFields;
  readonly headers?: RequestFields;
  readonly json?: unknown;
  readonly form?: RequestFields;
  readonly lines?: LinesToSend;
  readonly body?: BodyToSend;
  readonly signal?: AbortSignal;
}

interface RequestFields {
  readonly [name: string]: unknown;
}

/** The request of a call, without its form. Throws for invalid input, as a header with a line break. */
function requestOf(
  options: ClientOptions,
  method: string,
  pattern: string,
  sent: RequestParts,
  signals: readonly AbortSignal[],
): Request {
  const json: string | undefined = JSON.stringify(sent.json);
  const url = urlOf(options, pattern, sent);
  const init = {
    method,
    headers: { accept: `${askingForTextKinds}, */*` },
    // The types of a body differ between Node and the DOM.
    body: (json ?? sent.body ?? null) as string | null,
    signal: (signals[1] ? AbortSignal.any([...signals]) : signals[0]) as AbortSignal,
    // Required for a stream, harmless for any other body.
    duplex: "half" as const,
  };
  const request = new Request(url, init);
  const headers = [options.headers, json && { "content-type": "application/json" }, sent.headers] as RequestFields[];
  // `Headers` joins the items of a list; a call's own header overrides the client's.
  for (const fields of headers) {
    new Headers(pairsOf(fields)).forEach((value, name) => request.headers.set(name, value));
  }
  return request;
}

function urlOf({ baseUrl }: ClientOptions, pattern: string, { path, query }: RequestParts): string {
  const text = String(new URLSearchParams(pairsOf(query)));
  return baseUrl.replace(/\/$/, "") + pathOf(pattern, path) + (text && `?${text}`);
}

/** What ends a call: its signal, and the deadline of the request that calls. */
function signalsOf({ signal }: RequestParts): readonly AbortSignal[] {
  return [signal, ambient.deadline?.()].filter((one) => !!one);
}

/** Prints a path like `Path.url`. Throws for a segment that no request can have. */
function pathOf(pattern: string, path: RequestFields = {}): string {
  const segments = pattern.split("/").flatMap((segment) => {
    const [, name, rest] = /^{(.+?)(\*?)}$/.exec(segment) ?? [];
    if (!name) return segment;
    const values = rest ? (path[name] as readonly unknown[]) : [path[name] ?? ""];
    return values.map((value) => {
      const text = textOf(value);
      // `Request` removes a segment of dots, even encoded, and would call another route.
      if (/^\.?\.?$/.test(text)) throw new TypeError(`${pattern}: ${name} is missing, or is not a valid segment`);
      return text;
    });
  });
  return segments.map(encodeURIComponent).join("/") || "/";
}

function pairsOf(fields: RequestFields = {}): WirePair[] {
  return Object.entries(fields).flatMap(([name, value]) => wirePairs(name, value, textOf));
}

/** As in JSON, so that a `Date` is an instant. The platform converts other values to text. */
function textOf(value: unknown): string {
  return (value as Date).toJSON?.() ?? (value as string);
}

/** Reads the framework's own format, and problem details (RFC 9457), whose `detail` is the sentence. */
async function ownRefusal(response: Response, maxBody: number): Promise<RefusalRead> {
  const { detail, message, ...others } = JSON.parse(await textUpTo(maxBody, response)) as {
    detail: string;
  } & RefusalRead;
  return { message: message ?? detail, ...others };
}

// Of a name of its own: a bundler would load the class of the same name with a second file.
const tooLarge = { name: "TooLarge" };

/** As `Response.text()`, with a limit. */
async function textUpTo(maxBody: number, { body }: Response): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let left = maxBody;
  try {
    for (;;) {
      const part = await reader?.read();
      if (!part?.value) return text + decoder.decode();
      left -= part.value.length;
      if (left < 0) throw Object.assign(new Error(), tooLarge);
      text += decoder.decode(part.value, { stream: true });
    }
  } finally {
    reader?.cancel().catch(() => {});
  }
}

/**
 * Sends a request, with its form or its lines if there are any. Few calls need more than JSON, so a bundler loads the rest on demand.
 *
 * @param reads "response" leaves the body of a 2xx to the caller, whatever its type.
 */
async function outcomeOf(
  request: Request,
  options: ClientOptions,
  signals: readonly AbortSignal[],
  { form, lines }: Pick<RequestParts, "form" | "lines">,
  reads?: "response",
): Promise<CallResult> {
  const { fetch: fetchRequest = fetch, readRefusal, maxBody = 16_777_216 } = options;
  // Until a response comes: status 0 and no headers.
  let response = Response.error();
  let result: object = { error: "unreachable", message: "The server could not be reached.", problems: [] };
  try {
    response = await fetchRequest(
      form || lines ? (await import("./received.ts")).withBody(request, form && pairsOf(form), lines) : request,
    );
    const type = response.headers.get("content-type") ?? "";
    const isOther = response.ok && (reads || (type && !/[/+]json( |;|$)/i.test(type)));
    const isWrapped = !isOther && (signals[0] || (readRefusal && !response.ok));
    const ending = isWrapped ? (await import("./received.ts")).endingBy(signals, response, maxBody) : response;
    if (!response.ok) {
      try {
        const read = await (readRefusal ? readRefusal(ending) : ownRefusal(ending, maxBody));
        const { error, message, problems, more } = read ?? {};
        if (typeof error === "string" && typeof message === "string") {
          const listed = Array.isArray(problems) ? problems.filter(isProblem) : [];
          result = { error, message, problems: listed, ...(typeof more === "number" && more > 0 && { more }) };
        }
      } finally {
        // It may be in the headers alone, or throw. Of a body that is read this rejects.
        ending.body?.cancel().catch(() => {});
      }
    } else if (reads) {
      result = { value: (await import("./received.ts")).unread(response, signals) };
    } else if (isOther) {
      const outcome = (request: Request, response: Response, signal: AbortSignal): Promise<CallResult> =>
        outcomeOf(request, { ...options, fetch: async () => response }, [signal], {});
      const call = { request, fetchRequest, signals, outcome, ...options, maxBody };
      result = { value: await (await import("./received.ts")).valueOf(response, call) };
    } else {
      const text = await textUpTo(maxBody, ending);
      // Some servers name a type although there is no content.
      result = { value: type && response.status !== 204 ? JSON.parse(text) : text || undefined };
    }
  } catch (thrown) {
    // No response, an incomplete one, or no refusal, as the page of a gateway.
    const isTooLarge = (thrown as Partial<Error> | undefined)?.name === tooLarge.name;
    result = { ...result, ...(isTooLarge ? { message: "The response is longer than maxBody." } : { cause: thrown }) };
  }
  const { status, headers } = response;
  return { ok: "value" in result, status, headers, ...result } as CallResult;
}

/** A server may send anything in their place. */
function isProblem(value: unknown): value is Problem {
  const { at, code, message } = (value ?? {}) as { readonly [name: string]: unknown };
  return typeof at === "string" && typeof code === "string" && typeof message === "string";
}

const limits = ["maxBody", "maxLine", "maxEvent", "minReconnectMs", "maxSocketBuffer", "openTimeoutMs"] as const;

/** A function for every method and path, by a proxy. */
function callsOf(options: ClientOptions): object {
  ambient.use();
  if (typeof options?.baseUrl !== "string") throw new TypeError("Client.of: baseUrl is no text");
  for (const name of limits) {
    const limit: unknown = options[name] ?? 0;
    if (!(typeof limit === "number" && limit >= 0)) throw new TypeError(`Client.of: ${name} is no number from 0`);
  }
  const get = (_: object, key: string | symbol) => {
    // A promise that resolves with a client reads its `then`: only a method and path are a call.
    const [method, pattern] = String(key).split(/ (\/.*)/) as [string, string?];
    if (!pattern) return undefined;
    const callFor =
      (reads?: "response") =>
      async (sent: RequestParts = {}) => {
        const signals = signalsOf(sent);
        const request = requestOf(options, method, pattern, sent, signals);
        return outcomeOf(request, options, signals, sent, reads);
      };
    const open = async (sent: RequestParts & SocketParts = {}) => {
      const headers = Object.fromEntries([options.headers, sent.headers].flatMap((fields) => pairsOf(fields)));
      return (await import("./open-socket.ts")).openSocket(
        urlOf(options, pattern, sent),
        sent,
        headers,
        options,
        signalsOf(sent),
      );
    };
    return Object.assign(callFor(), { open, response: callFor("response") });
  };
  return new Proxy({}, { get });
}

/**
 * Sends a request by the platform's `fetch`. If the connection closed before a response arrived, a request that may be repeated
 * is sent once more: a server may close a kept-alive connection while a request is on its way (RFC 9112 §9.3.1).
 */
export async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    return checkedResponse(await fetch(url, init));
  } catch (thrown) {
    if (!mayRepeat(init) || !wasClosed(thrown) || init.signal?.aborted) throw thrown;
    return checkedResponse(await fetch(url, init));
  }
}

/** A GET or HEAD; and by an idempotency key any other, whose body can be sent again. */
function mayRepeat({ method = "GET", body, headers }: RequestInit): boolean {
  const isWhole = typeof body === "string" || ArrayBuffer.isView(body) || body instanceof URLSearchParams;
  if (body === undefined || body === null) return /^(get|head)$/i.test(method) || hasKey(headers);
  return isWhole && hasKey(headers);
}

function hasKey(headers: RequestInit["headers"]): boolean {
  return new Headers(headers).has("idempotency-key");
}

// The codes of Node and Bun; Deno retries by itself.
const closedCodes: ReadonlySet<unknown> = /* @__PURE__ */ new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

function wasClosed(thrown: unknown): boolean {
  const { code, cause } = (thrown ?? {}) as { readonly code?: unknown; readonly cause?: unknown };
  return closedCodes.has(code) || closedCodes.has((cause as { readonly code?: unknown } | undefined)?.code);
}

/** Refuses what some platforms accept: both framing headers (RFC 9112 §6.3), an invalid status, and a reason with control characters. */
function checkedResponse(response: Response): Response {
  const { status, statusText, headers, body } = response;
  const isFramedTwice = headers.has("transfer-encoding") && headers.has("content-length");
  const isStatus = status >= 200 && status <= 599 && !/[\0-\x08\n-\x1f\x7f]/.test(statusText);
  if (!isFramedTwice && isStatus) return response;
  body?.cancel().catch(() => {});
  throw new TypeError("HttpClient.fetch: the response is not valid HTTP");
}

/**
 * A typed client from the routes' types alone: no generated code, no import of the server. A call resolves with the answer
 * or a refusal; if no response arrived, the refusal is `unreachable`. It rejects only for invalid input, as a path without its
 * argument.
 *
 * A list in the query is sent as repeated names, an object as a name for each member, a form with a `Blob` as multipart, a `Date` as an instant; `undefined` is
 * left out. The value is the response's JSON, its JSON lines as they arrive, its text, or its event stream, which reconnects and
 * resumes. For any other content type it is the `Response` itself, unread; the call's member `response` has it for every type.
 * `lines` of an async iterable are sent while it makes them, where the platform's `fetch` can stream a body; a list is sent whole.
 * Inside of a request that has a deadline, a call ends with it, and is `unreachable`. The route of a WebSocket is opened by `open`.
 *
 * @example
 * ```ts
 * import type { routes } from "../server/routes.ts";
 *
 * const api = Client.of<typeof routes>({ baseUrl: "https://orders.example" });
 * const found = await api["GET /orders/{order_id}"]({ path: { order_id: 7 } });
 * if (found.ok) console.log(found.value.item);
 * else if (found.error === "not_found") console.log("There is no order 7.");
 * ```
 */
export const of = callsOf as <Routes extends readonly ClientRoute[] = readonly UntypedRoute[]>(
  options: ClientOptions,
) => Client<Routes>;

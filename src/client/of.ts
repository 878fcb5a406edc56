import type { Succeeded } from "../answers/returned.ts";
import { askingForTextKinds } from "../events/text-kinds.ts";
import type { BodyToSend } from "../inputs/body-inputs.ts";
import type { Problem } from "../refusals.ts";
import type { Route } from "../routing/route.ts";
import type { Calls, ClientOptions, Refused } from "./calls.ts";

/** What a call sends, as far as its route reads it. */
interface RequestParts {
  readonly path?: RequestFields;
  readonly query?: RequestFields;
  readonly headers?: RequestFields;
  readonly json?: unknown;
  readonly form?: RequestFields;
  readonly body?: BodyToSend;
  readonly signal?: AbortSignal;
}

interface RequestFields {
  readonly [name: string]: unknown;
}

/** The request of a call, but for a form. Throws for what no request can hold: a header with a line break, for one. */
function requestOf(options: ClientOptions, method: string, pattern: string, sent: RequestParts): Request {
  const json: string | undefined = JSON.stringify(sent.json);
  const query = String(new URLSearchParams(pairsOf(sent.query)));
  const url = options.baseUrl.replace(/\/$/, "") + pathOf(pattern, sent.path) + (query && `?${query}`);
  const init = {
    method,
    headers: { accept: `${askingForTextKinds}, */*` },
    // Which bytes a body may be of is not said alike where there is a DOM.
    body: (json ?? sent.body ?? null) as string | null,
    signal: sent.signal as AbortSignal,
    // A body that is a stream is sent only so, and nobody else is the worse for it.
    duplex: "half" as const,
  };
  const request = new Request(url, init);
  const given = [options.headers, json && { "content-type": "application/json" }, sent.headers] as RequestFields[];
  for (const [name, value] of given.flatMap(pairsOf)) request.headers.set(name, value);
  return request;
}

/** As `Path.url` prints it, but for what no request can have. */
function pathOf(pattern: string, path: RequestFields = {}): string {
  const segments = pattern.split("/").flatMap((segment) => {
    const [, name, rest] = /^\{(.+?)(\*?)\}$/.exec(segment) ?? [];
    if (!name) return segment;
    const values = rest ? (path[name] as readonly unknown[]) : [path[name] ?? ""];
    return values.map((value) => {
      const text = textOf(value);
      // What makes a request takes a segment of dots away, encoded or not, and would so ask for another route.
      if (/^\.{0,2}$/.test(text)) throw new TypeError(`${pattern}: ${name} is missing, or no segment`);
      return text;
    });
  });
  return segments.map(encodeURIComponent).join("/") || "/";
}

/** Each value under its name, a list's one by one; what is undefined is left out. */
function pairsOf(fields: RequestFields = {}): [name: string, value: string][] {
  return Object.entries(fields).flatMap(([name, value = []]) =>
    [value].flat().map((one): [string, string] => [name, textOf(one)]),
  );
}

/** As JSON has it, so that a `Date` is an instant; whoever is handed what is no text makes one of it. */
function textOf(value: unknown): string {
  return (value as Date).toJSON?.() ?? (value as string);
}

type Came = Succeeded<number, unknown> | Refused<string, readonly Problem[]>;
export type Ask = (request: Request) => Promise<Response>;

/** As a refusal is written, where it is one. */
interface RefusalBody {
  readonly error?: unknown;
  readonly message?: unknown;
  readonly problems?: readonly Problem[];
  readonly more?: number;
}

/** What comes of a request, which its form is not in yet. More than JSON few calls need: a bundler leaves it until one does. */
export async function outcomeOf(request: Request, ask: Ask = fetch, form?: RequestFields): Promise<Came> {
  // Until something answers: it has no status, and no headers.
  let response = Response.error();
  let came: object = { error: "unreachable", message: "The server could not be reached.", problems: [] };
  try {
    response = await ask(form ? (await import("./received.ts")).formed(request, pairsOf(form)) : request);
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok) {
      const { error, message, problems = [], more } = (await response.json()) as RefusalBody;
      if (typeof error === "string" && typeof message === "string") {
        came = { error, message, problems, ...(more === undefined ? {} : { more }) };
      }
    } else if (/[/+]json\b/i.test(type)) came = { value: await response.json() };
    else if (type === "") came = { value: (await response.text()) || undefined };
    else came = { value: await (await import("./received.ts")).valueOf(response, request, ask, outcomeOf) };
  } catch {
    // Nothing came, or not all of it, or what is no refusal: the page of a gateway.
  }
  const { status, headers } = response;
  return { ok: "value" in came, status, headers, ...came } as Came;
}

/** A function under every method and path, whatever there is. */
function callsOf(options: ClientOptions): object {
  const get = (_: object, key: string | symbol) => {
    // A promise that is resolved with a client asks it for `then`: only a method and a path are a call.
    const [method, pattern] = String(key).split(/ (\/.*)/) as [string, string?];
    return (
      pattern &&
      (async (sent: RequestParts = {}) =>
        outcomeOf(requestOf(options, method, pattern, sent), options.fetch, sent.form))
    );
  };
  return new Proxy({}, { get });
}

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

/**
 * A typed client from the routes' types alone: no code is generated, and nothing of the server is imported. A call never
 * rejects for what comes back: the answer or the refusal is its outcome, and so is `unreachable`, where the server's
 * answer did not come. It rejects for what no request can hold, as a path without its argument.
 *
 * What the routes read is sent as it is given: a query's list as repeated names, a form in parts where a `Blob` is in it,
 * a `Date` as an instant. What is `undefined` is left out. What comes back is the answer's JSON, its text, or the stream of
 * its events, which goes on after a cut where it stopped; an answer of any other type is the `Response` itself, unread.
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
export const of = callsOf as <Routes extends readonly Route[]>(options: ClientOptions) => Calls<Routes>;

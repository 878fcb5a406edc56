import { askingForTextKinds } from "../streams/text-kinds.ts";
import type { BodyToSend } from "../inputs/of-body.ts";
import type { ClientOptions } from "./calls.ts";

/** What a call sends, as far as its route reads it. */
export interface Sent {
  readonly path?: Fields;
  readonly query?: Fields;
  readonly headers?: Fields;
  readonly json?: unknown;
  readonly form?: Fields;
  readonly body?: BodyToSend;
  readonly signal?: AbortSignal;
}

export interface Fields {
  readonly [name: string]: unknown;
}

/** The request of a call, but for a form. Throws for what no request can hold: a header with a line break, for one. */
export function requestOf(options: ClientOptions, method: string, pattern: string, sent: Sent): Request {
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
  const given = [options.headers, json && { "content-type": "application/json" }, sent.headers] as Fields[];
  for (const [name, value] of given.flatMap(pairsOf)) request.headers.set(name, value);
  return request;
}

/** As `Path.url` prints it, but for what no request can have. */
function pathOf(pattern: string, path: Fields = {}): string {
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
export function pairsOf(fields: Fields = {}): [name: string, value: string][] {
  return Object.entries(fields).flatMap(([name, value = []]) =>
    [value].flat().map((one): [string, string] => [name, textOf(one)]),
  );
}

/** As JSON has it, so that a `Date` is an instant; whoever is handed what is no text makes one of it. */
function textOf(value: unknown): string {
  return (value as Date).toJSON?.() ?? (value as string);
}

import { percentEncoded } from "../routes/segment.ts";
import { askingForTextKinds } from "../streams/text-kinds.ts";
import type { BodyToSend } from "../inputs/of-body.ts";
import type { ClientOptions } from "./calls.ts";

/** What a call sends, as far as its route reads it. */
export interface Sent {
  readonly path?: Fields;
  readonly query?: Fields;
  readonly headers?: { readonly [name: string]: string | undefined } | undefined;
  readonly json?: unknown;
  readonly form?: Fields;
  readonly body?: BodyToSend;
  readonly signal?: AbortSignal;
}

interface Fields {
  readonly [name: string]: unknown;
}

/** The request of a call. Throws for what no request can hold: a path without its argument, a header with a line break. */
export function requestOf({ baseUrl, headers: always }: ClientOptions, key: string, sent: Sent): Request {
  const { path = {}, query = {}, json, form, signal = null } = sent;
  const at = key.indexOf("/");
  const search = new URLSearchParams(textsOf(query) as [string, string][]).toString();
  const headers = new Headers(always);
  if (!headers.has("accept")) headers.set("accept", `${askingForTextKinds}, */*`);
  if (json !== undefined) headers.set("content-type", "application/json");
  for (const [name, value] of Object.entries(sent.headers ?? {})) if (value !== undefined) headers.set(name, value);
  const init = {
    method: key.slice(0, at - 1),
    headers,
    // Which bytes a body may be of is not said alike where there is a DOM.
    body: (json !== undefined ? JSON.stringify(json) : form ? formOf(form) : (sent.body ?? null)) as string | null,
    signal,
    // A body that is a stream is sent only so, and nobody else is the worse for it.
    duplex: "half" as const,
  };
  return new Request(baseUrl.replace(/\/$/, "") + pathOf(key.slice(at), path) + (search && `?${search}`), init);
}

/** As `Path.url` prints it, but for what no request can have. */
function pathOf(pattern: string, path: Fields): string {
  const print = (_: string, name = "", rest: string, literal: string): string => {
    const parts = literal ? [literal] : rest ? (path[name] as readonly unknown[]) : [path[name]];
    return parts.map((part) => `/${percentEncoded(segmentOf(part, pattern, name))}`).join("");
  };
  return pattern.replace(/\/(?:\{([^/]+?)(\*?)\}(?=\/|$)|([^/]+))/g, print) || "/";
}

// What makes a request takes a segment of dots away, encoded or not, and would so ask for another route.
function segmentOf(value: unknown, pattern: string, name: string): string {
  const text = textOf(value ?? "");
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`${pattern}: ${name} is missing, or no segment a request can have`);
  return text;
}

/** A form: in parts where a file is in it, and otherwise as a form without an `enctype` is sent. */
function formOf(form: Fields): FormData | URLSearchParams {
  const fields = textsOf(form);
  if (!fields.some(([, value]) => value instanceof Blob)) return new URLSearchParams(fields as [string, string][]);
  const data = new FormData();
  for (const [name, value] of fields) data.append(name, value);
  return data;
}

/** Each value under its name, a list's one by one; what is undefined is left out. */
function textsOf(fields: Fields): [string, string | Blob][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    [value]
      .flat()
      .filter((one) => one !== undefined)
      .map((one): [string, string | Blob] => [name, one instanceof Blob ? one : textOf(one)]),
  );
}

function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

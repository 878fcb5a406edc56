/** Routes that read JSON lines, and their requests. */
import * as v from "valibot";
import { Path, Returns, Test, jsonLines, post } from "usher-http";
import type { JsonLinesOptions, Route } from "usher-http";

export const Any = v.unknown();

/** Iterates the lines and answers with their values as a list. */
export function listed(shape: v.GenericSchema, options: Partial<JsonLinesOptions> = {}): Route {
  return post(
    Path.of("lines"),
    { inputs: { values: jsonLines(shape, { max: 1_000_000, ...options }) }, returns: Returns.json(Any) },
    async ({ values }) => {
      const all: unknown[] = [];
      for await (const value of values) all.push(value);
      return all;
    },
  );
}

/** Reads to the end, and answers with each value, and with the kind and line of each failure. */
export function noted(shape: v.GenericSchema, options: Partial<JsonLinesOptions> = {}): Route {
  return post(
    Path.of("lines"),
    { inputs: { values: jsonLines(shape, { max: 1_000_000, ...options }) }, returns: Returns.json(Any) },
    async ({ values }) => {
      const all: unknown[] = [];
      for (;;) {
        const read = await values.read();
        if (!read.ok && read.error.kind === "invalid") all.push(`${read.error.line}: ${read.error.detail}`);
        else if (!read.ok) return [...all, read.error.kind];
        else if (read.value === undefined) return all;
        else all.push(read.value);
      }
    },
  );
}

export const type = { "content-type": "application/x-ndjson" };

export async function sent(route: Route, body: string | Uint8Array, headers: Record<string, string> = type) {
  const { status, body: text } = await Test.call(Test.app([route]), "POST", "/lines", { body, headers });
  return [status, text] as const;
}

export function requestOf(parts: readonly Uint8Array[], headers: Record<string, string> = type): Request {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
  return new Request("http://localhost/lines", { method: "POST", body, headers, duplex: "half" });
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

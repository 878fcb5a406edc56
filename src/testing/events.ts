import { isStream } from "../answers/answer.ts";
import { EventReader } from "../events/event-reader.ts";
import type { ReadEvent } from "../events/event-reader.ts";
import { readParts } from "../events/stream.ts";
import type { Parts } from "../events/stream.ts";
import type { Awaitable } from "../inputs/dep.ts";
import { inBackground } from "../logging/raised.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { CallExchange, answeredBy, failOnUndeclared } from "./call.ts";
import type { TestAnswer, TestCallOptions, TestApp } from "./call.ts";

/** Receives each event; return `"stop"` to disconnect. */
export type Receive = (event: Omit<ReadEvent, "retryMs">) => Awaitable<void | "stop">;

/**
 * Reads an event stream until it ends or `receive` returns `"stop"`. The error is a response that is not an event stream.
 *
 * @throws Error if the application answers or sends something undeclared; and what its producer throws.
 */
export async function events(
  { app }: TestApp,
  target: string,
  receive: Receive,
  options: TestCallOptions = {},
): Promise<Result<void, TestAnswer>> {
  const going = new AbortController();
  options.gone?.addEventListener("abort", () => going.abort(), { once: true });
  const headers = [["accept", "text/event-stream"] as const, ...headersOf(options)];
  const exchange = new CallExchange("GET", target, { ...options, headers, gone: going.signal }, undefined);
  const sent = await app.answer(exchange);
  failOnUndeclared(sent.undeclared);
  if (!isStream(sent.body) || !isEventStream(sent.head)) return error(await answeredBy(sent));

  const parts = readParts(sent.body);
  going.signal.addEventListener("abort", () => inBackground(parts.cancel()), { once: true });
  let isWhole = false;
  try {
    isWhole = !(await readEvents(parts, receive, exchange)) && !going.signal.aborted;
    sent.body.request?.ended(isWhole ? "finished" : "client gone");
  } finally {
    if (!isWhole) going.abort();
  }
  return ok();
}

/** Resolves with true if `receive` stopped it. */
async function readEvents(parts: Parts, receive: Receive, exchange: CallExchange): Promise<boolean> {
  const reader = new EventReader();
  for (let part = await parts.next(); part !== undefined; part = await parts.next()) {
    for (const { name, id, data } of reader.feed(part)) {
      failOnUndeclared(exchange.undeclaredDeed);
      if ((await receive({ name, id, data })) === "stop") return true;
    }
  }
  failOnUndeclared(exchange.undeclaredDeed);
  return false;
}

function isEventStream(head: readonly string[]): boolean {
  return head.some((name, i) => i % 2 === 0 && name === "content-type" && head[i + 1] === "text/event-stream");
}

function headersOf({ headers = [] }: TestCallOptions): readonly (readonly [name: string, value: string])[] {
  return Symbol.iterator in headers ? [...headers] : Object.entries(headers);
}

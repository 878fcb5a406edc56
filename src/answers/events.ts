import { EventStream } from "../streams/event-stream.ts";
import type { Producer } from "../streams/event-stream.ts";
import { none } from "./answer.ts";
import type { Answer, StreamBody } from "./answer.ts";
import { Unwritable } from "./unwritable.ts";

const defaultKeepAliveMs = 15_000;
// What stands between would otherwise keep the events, or hold them back until there are many.
const eventHeaders = [
  ["cache-control", "no-cache"],
  ["x-accel-buffering", "no"],
] as const;

/** The answer of an event stream (HTML, "Server-sent events"): 200, its events made once its head is sent. */
export function eventsAnswer(
  producer: unknown,
  declared: ReadonlySet<string> | undefined,
  keepAliveMs: number = defaultKeepAliveMs,
  typeWithTextKinds?: string,
): Answer {
  if (typeof producer !== "function") throw new Unwritable("an event stream without a function that makes its events");
  const parts = new EventStream(producer as Producer<unknown>, declared, keepAliveMs);
  const body: StreamBody = {
    parts,
    begin: (request) => (parts.request = request),
    writeTo: (sink) => parts.writeTo(sink),
    ...(typeWithTextKinds === undefined ? {} : { typeWithTextKinds }),
  };
  return { status: 200, contentType: "text/event-stream", headers: eventHeaders, cookies: none, body, closes: false };
}

// Of a longer time every runtime's timer is over at once.
const longestMs = 2 ** 31 - 1;

/** Throws where a time is none that can be waited. */
export function checkKeepAlive(keepAliveMs: number | undefined): void {
  if (keepAliveMs === undefined || (keepAliveMs > 0 && keepAliveMs <= longestMs)) return;
  throw new RangeError(`keepAliveMs cannot be ${keepAliveMs}: it is a time in milliseconds, at most ${longestMs}`);
}

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
    begin: (request) => {
      if (parts.request !== undefined) throw new Unwritable("an event stream that is sent already");
      parts.request = request;
    },
    writeTo: (sink) => parts.writeTo(sink),
    ...(typeWithTextKinds === undefined ? {} : { typeWithTextKinds }),
  };
  return { status: 200, contentType: "text/event-stream", headers: eventHeaders, cookies: none, body, closes: false };
}

// Of a longer time every runtime's timer is over at once.
const longestMs = 2 ** 31 - 1;

/** Throws where a time is none that can be waited. */
export function checkKeepAlive(keepAliveMs: number | undefined): void {
  if (keepAliveMs === undefined) return;
  if (typeof keepAliveMs === "number" && keepAliveMs > 0 && keepAliveMs <= longestMs) return;
  const given = typeof keepAliveMs === "number" ? String(keepAliveMs) : `a value of type ${typeof keepAliveMs}`;
  throw new RangeError(`keepAliveMs cannot be ${given}: it is a time in milliseconds, at most ${longestMs}`);
}

import type { ServerResponse } from "node:http";
import type { StreamBody } from "../../src/answers/answer.ts";
import type { Feeds } from "../../src/app/feeds.ts";
import { Streaming } from "../../src/app/streaming.ts";
import { guarded } from "../../src/logging/last-net.ts";

const nothing = (): void => {};

/**
 * A streamed body that knows its connection. The adapter tells it neither of a client that goes while it takes nothing,
 * nor of one that goes after it has sent a body of its own.
 */
export function watched(
  body: StreamBody,
  response: ServerResponse,
  feeds: Feeds | undefined,
): ReadableStream<Uint8Array> {
  const streaming = new Streaming(body, {
    stopsAtLength: false,
    making() {
      // The adapter has written the head by now, and Node keeps it back until there is a part.
      if (response.headersSent) response.flushHeaders();
      // It was asked for before the app stopped, and is answered behind that.
      if (feeds?.hasEnded === true) streaming.end("connection closed");
    },
    made: nothing,
    cancelled: () => "client gone",
    ended: () => feeds?.remove(streaming),
  });
  feeds?.add(streaming);
  response.once(
    "close",
    guarded(response, () => streaming.end("client gone")),
  );
  return streaming.readable;
}

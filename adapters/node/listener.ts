import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "../../src/app/app.ts";
import { limitsOf } from "../../src/app/listening.ts";
import type { ListenOptions } from "../../src/app/listening.ts";
import { Sweep } from "../../src/app/sweep.ts";
import { useSink } from "../../src/logging/writer.ts";
import { Answering } from "./answering.ts";
import { Connections } from "./connections.ts";
import type { NodeExchange } from "./exchange.ts";
import { awaitsContinue, isLeftToUs } from "./expectation.ts";
import type { Framing } from "./head.ts";
import { MountedExchange } from "./mounted-exchange.ts";
import { stderrSink } from "./stderr.ts";

/** How long an app in another's server waits on a client. What has to do with listening is that server's. */
export type ListenerOptions = Pick<ListenOptions, "bodyTimeoutMs" | "minBodyRate" | "sendTimeoutMs">;

/**
 * An app as a request listener, for a server of `node:http` or `node:https` that is there already; Express takes it as
 * middleware. It answers every request it is given, and never calls on to the next. The server listens and stops, and
 * keeps its own limits of heads and connections; `app.drain()` has the app say that it is no longer ready, and ends its
 * streams of events.
 *
 * Routes name whole paths: where the server took a prefix off (`req.originalUrl`), the app sees the target as it was sent.
 * Mount it ahead of what reads bodies; behind it, a body is had from `req.rawBody` or a `req.body` of bytes, and is a 500
 * where neither is there.
 *
 * @throws RangeError for an option out of its range.
 *
 * @example
 * ```ts
 * const app = App.make(routes);
 * const server = createServer(listener(app)).listen(8080);
 * ```
 */
export function listener(
  app: App,
  options: ListenerOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  const { bodyTimeoutMs, minBodyRate, sendTimeoutMs } = limitsOf(options, "listener");
  const sweep = new Sweep({ bodyTimeoutMs, minBodyRate, sendTimeoutMs });
  const connections = new Connections({ sendTimeoutMs });
  const answering = new MountedAnswering(app, sweep, sendTimeoutMs, connections);
  useSink(stderrSink());
  sweep.start();
  app.onDrain(() => answering.endFeeds());
  return (request, response) => {
    answering.answer(request, response, isLeftToUs(response) && awaitsContinue(request, response));
  };
}

class MountedAnswering extends Answering {
  override readonly isMounted = true;

  protected override exchange(
    request: IncomingMessage,
    response: ServerResponse,
    framing: Framing,
    expectsContinue: boolean,
  ): NodeExchange {
    return new MountedExchange(request, response, framing, this.sweep, expectsContinue);
  }
}

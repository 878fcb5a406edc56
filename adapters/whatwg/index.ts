/** `usher-http/whatwg`: an app behind `@whatwg-node/server`, for servers that exist already. */
import { isStream } from "../../src/answers/answer.ts";
import type { App } from "../../src/app/app.ts";
import type { Sent } from "../../src/app/exchange.ts";
import { FetchExchange, responseOf, responseTo, unmade } from "../../src/app/fetch.ts";
import { Feeds } from "../../src/app/feeds.ts";
import type { Soon } from "../../src/inputs/later.ts";
import { isToCome } from "../../src/inputs/later.ts";
import { isFeed } from "../../src/app/streaming.ts";
import { refuse } from "../../src/app/refused-head.ts";
import { NodeExchange } from "./exchange.ts";
import { refusedHost } from "./head.ts";
import { nodeOf } from "./node.ts";
import type { WhatwgContext } from "./node.ts";
import { watched } from "./stream.ts";
import { endsUnread, lingerAtEnd } from "./unread.ts";

export type { WhatwgContext } from "./node.ts";

/** What `createServerAdapter` of `@whatwg-node/server` takes. It neither throws nor rejects. */
export type WhatwgHandler = (request: Request, context: WhatwgContext) => Response | Promise<Response>;

/**
 * Answers with an app behind `@whatwg-node/server`, which mounts in Node's own server, in Express, Koa, Fastify and
 * others. In Node the listener of `usher-http/node` is faster, and has the limits and the stopping that here are the
 * server's own.
 *
 * A server that hands the adapter objects of its own, as Fastify does, gives them as `{ req, reply }` too: from them
 * come `peer`, the target and the header lines as they were sent, and that the client has gone.
 *
 * @example
 * ```ts
 * createServer(createServerAdapter(whatwg(App.make(routes)))).listen(8080);
 * ```
 */
export function whatwg(app: App): WhatwgHandler {
  const feeds = new Feeds();
  app.onDrain(() => feeds.end());
  return (request, context) => {
    const node = nodeOf(context);
    if (node === undefined) {
      const exchange = new FetchExchange(request, "");
      return whenSent(app.answer(exchange), (sent) => responseTo(exchange, sent));
    }
    const refused = refusedHost(node);
    if (refused !== undefined) return refuse(refused);
    const exchange = new NodeExchange(request, node);
    return whenSent(app.answer(exchange), (sent) => respond(exchange, sent, feeds));
  };
}

function whenSent(
  sent: Soon<Sent>,
  respond: (sent: Sent) => Response | Promise<Response>,
): Response | Promise<Response> {
  return isToCome(sent) ? sent.then(respond).catch(unmade) : respondSafely(sent, respond);
}

function respondSafely(
  sent: Sent,
  respond: (sent: Sent) => Response | Promise<Response>,
): Response | Promise<Response> {
  try {
    const response = respond(sent);
    return response instanceof Promise ? response.catch(unmade) : response;
  } catch (thrown) {
    return unmade(thrown);
  }
}

function respond(exchange: NodeExchange, sent: Sent, feeds: Feeds): Response | Promise<Response> {
  const ends = endsUnread(exchange);
  return ends instanceof Promise
    ? ends.then((ends) => nodeResponseTo(exchange, sent, ends, feeds))
    : nodeResponseTo(exchange, sent, ends, feeds);
}

function nodeResponseTo({ node: { req, res } }: NodeExchange, sent: Sent, ends: boolean, feeds: Feeds): Response {
  if (ends) lingerAtEnd(req.socket);
  const { body } = sent;
  const stream = isStream(body) ? watched(body, res, isFeed(sent) ? feeds : undefined) : undefined;
  return responseOf(ends ? { ...sent, closes: true } : sent, stream);
}

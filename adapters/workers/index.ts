/** `usher-http/workers`: answers on Cloudflare Workers, and wherever else workerd runs. */
import { isStream } from "../../src/answers/answer.ts";
import { make } from "../../src/app/app.ts";
import type { App, AppOptions } from "../../src/app/app.ts";
import { DeclarationError } from "../../src/app/checks.ts";
import type { WireResponse } from "../../src/app/exchange.ts";
import { internalRefusal } from "../../src/app/failures.ts";
import { responseOf, unmade } from "../../src/app/web.ts";
import { isPending } from "../../src/deferred.ts";
import { HostCheck, refuse } from "../../src/server/bad-request.ts";
import type { RefusedHead } from "../../src/server/bad-request.ts";
import type { Route } from "../../src/routing/route.ts";
import { WorkerExchange } from "./exchange.ts";
import type { WorkerContext } from "./exchange.ts";
import { upgrade } from "./socket.ts";
import { pathFor, stream } from "./stream.ts";

export type { WorkerContext } from "./exchange.ts";

/** What `worker` takes: the app's options, and what only a Worker has. */
export interface WorkerOptions extends AppOptions {
  /**
   * The Worker is reached through Cloudflare's network alone. `peer` is then the address that connected to it, which
   * Cloudflare tells in `cf-connecting-ip`. False unless set, and `peer` empty: anywhere else (workerd by itself, a
   * Worker that others call) that header says whatever its sender wrote.
   */
  readonly behindCloudflare?: boolean;
}

/** What a Worker's module exports as its default. */
export interface Worker<Env> {
  fetch(request: Request, env: Env, ctx: WorkerContext): Response | Promise<Response>;
}

/**
 * A Worker that answers with an app. It needs the compatibility flag `nodejs_als` or `nodejs_compat`, without which
 * workerd does not start it; with `enable_request_signal`, `clientGone` aborts before the next write to the client too.
 *
 * @param options The app's options, or a function of the Worker's bindings, called once in each isolate, with its
 * first request. Where it raises, or what it answers is refused, every request is 500 `internal` and the log says why.
 * @throws DeclarationError for a declaration the framework refuses, where the options are a value: the Worker does not
 * start.
 *
 * @example
 * ```ts
 * export default worker<Env>(routes, (env) => ({ resources: [Dep.resource(orders, env.ORDERS)] }));
 * ```
 */
export function worker<Env = unknown>(
  routes: readonly Route[],
  options: WorkerOptions | ((env: Env) => WorkerOptions) = {},
): Worker<Env> {
  const optionsOf = typeof options === "function" ? options : () => options;
  let made = typeof options === "function" ? undefined : madeWith(routes, options);
  return {
    fetch(request, env, ctx) {
      try {
        made ??= madeOrRefusing(routes, () => optionsOf(env));
        return answer(made, request, ctx);
      } catch (thrown) {
        // A runtime would show a page of its own, with the reason.
        return unmade(thrown);
      }
    },
  };
}

function answer({ app, behindCloudflare }: Made, request: Request, ctx: WorkerContext): Response | Promise<Response> {
  const host = request.headers.get("host");
  if (host !== null && !hosts.isHost(host)) return refuse(badHost);
  const peer = behindCloudflare ? (request.headers.get("cf-connecting-ip") ?? "") : "";
  const exchange = new WorkerExchange(request, peer, ctx);
  const sent = app.answer(exchange);
  if (!isPending(sent)) return respond(exchange, sent, app);
  const response = sent.then((sent) => respond(exchange, sent, app)).catch(unmade);
  exchange.keepAlive(response);
  return response;
}

const badHost: RefusedHead = { status: 400, why: "a Host that is none" };
const hosts: HostCheck = new HostCheck();

interface Made {
  readonly app: App;
  readonly behindCloudflare: boolean;
}

function madeWith(routes: readonly Route[], options: WorkerOptions): Made {
  return { app: make(routes, options), behindCloudflare: options.behindCloudflare === true };
}

/** Once the Worker has started there is nobody left to throw at: a runtime would show its own page, with the reason. */
function madeOrRefusing(routes: readonly Route[], optionsOf: () => WorkerOptions): Made {
  try {
    return madeWith(routes, optionsOf());
  } catch (thrown) {
    // What an application's function says may quote a secret of its bindings; what is wrong with a declaration does not.
    const reason = thrown instanceof DeclarationError ? internalRefusal(thrown.message) : thrown;
    const notFound = () => {
      throw reason;
    };
    return madeWith([], { notFound });
  }
}

// Nothing runs between requests: the spans of one are sent before the runtime lets go of it.
function respond(exchange: WorkerExchange, sent: WireResponse, { flush }: App): Response {
  const { body, socket } = sent;
  if (flush !== undefined && !isStream(body)) exchange.keepAlive(flush());
  if (socket !== undefined) return upgrade(exchange, sent, socket);
  if (!isStream(body)) return responseOf(sent);
  const { readable, writable } = pathFor(body);
  const streamed = stream(exchange, body, writable);
  exchange.keepAlive(flush === undefined ? streamed : streamed.then(flush));
  return responseOf(sent, readable);
}

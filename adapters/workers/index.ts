/** `usher-http/workers`: answers on Cloudflare Workers and other hosts of workerd. */
import { isStream } from "../../src/doors/answers.ts";
import { make, DeclarationError, responseOf, unmade } from "../../src/doors/apps.ts";
import type { App, AppOptions } from "../../src/doors/apps.ts";
import type { WireResponse } from "../../src/app/exchange.ts";
import { internalRefusal } from "../../src/refusals.ts";
import { isPending } from "../../src/doors/base.ts";
import { HostCheck, badHost, refuse } from "../../src/doors/server.ts";
import type { Route } from "../../src/doors/routing.ts";
import { WorkerExchange } from "./exchange.ts";
import type { WorkerContext } from "./exchange.ts";
import { upgrade } from "./socket.ts";
import { pathFor, stream } from "./stream.ts";

export type { WorkerContext } from "./exchange.ts";

/** The options of `worker`: the app's, and one for Workers. */
export interface WorkerOptions extends AppOptions {
  /**
   * Whether the Worker is reachable only through Cloudflare's network. `peer` is then the address that connected to it, from
   * `cf-connecting-ip`. False by default, with an empty `peer`: anywhere else (workerd alone, a Worker that others call) the
   * sender chooses that header.
   */
  readonly behindCloudflare?: boolean;
}

/** The default export of a Worker's module. */
export interface Worker<Env> {
  /** Answers one request. */
  fetch(request: Request, env: Env, ctx: WorkerContext): Response | Promise<Response>;
}

/**
 * A Worker that answers with an app. It needs the compatibility flag `nodejs_als` or `nodejs_compat`; otherwise workerd does
 * not start it. With `enable_request_signal`, `clientGone` also aborts before the next write to the client.
 *
 * @param options The app's options, or a function of the Worker's bindings, called once in each isolate, with its first
 *   request. If it throws, or its options are refused, every request gets a 500 `internal` and the log has the reason.
 * @throws DeclarationError for an invalid declaration, if the options are a value: the Worker does not start.
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
        // The runtime would show its own page, with the reason.
        return unmade(thrown);
      }
    },
  };
}

function answer({ app, behindCloudflare }: Made, request: Request, ctx: WorkerContext): Response | Promise<Response> {
  const host = request.headers.get("host");
  if (host !== null && !hosts.isHost(host)) return refuse(badHost);
  const peer = behindCloudflare ? (request.headers.get("cf-connecting-ip") ?? "") : "";
  const exchange = new WorkerExchange(request, peer, ctx, behindCloudflare);
  exchange.flush = app.flush;
  const sent = app.answer(exchange);
  if (!isPending(sent)) {
    if (app.flush !== undefined) exchange.keepAlive(Promise.resolve());
    return workerResponse(exchange, sent);
  }
  const response = sent.then((sent) => workerResponse(exchange, sent)).catch(unmade);
  exchange.keepAlive(response);
  return response;
}

const hosts: HostCheck = new HostCheck();

const noBackground =
  "background cannot run in a Worker, which ends with its requests: use the input after, a cron trigger or a Durable Object's alarm";

interface Made {
  readonly app: App;
  readonly behindCloudflare: boolean;
}

function madeWith(routes: readonly Route[], options: WorkerOptions): Made {
  // From JavaScript the options may be anything; `make` says what is wrong with them.
  if ((options as WorkerOptions | null)?.background !== undefined) throw new DeclarationError([noBackground]);
  const app = make(routes, options);
  return { app, behindCloudflare: options.behindCloudflare === true };
}

/** An error must not be thrown after the Worker has started: the runtime would show its own page, with the reason. */
function madeOrRefusing(routes: readonly Route[], optionsOf: () => WorkerOptions): Made {
  try {
    return madeWith(routes, optionsOf());
  } catch (thrown) {
    // The error of an application's function may quote a secret of its bindings; a declaration's does not.
    const reason = thrown instanceof DeclarationError ? internalRefusal(thrown.message) : thrown;
    const notFound = () => {
      throw reason;
    };
    return madeWith([], { notFound });
  }
}

function workerResponse(exchange: WorkerExchange, sent: WireResponse): Response {
  const { body, socket } = sent;
  if (socket !== undefined) return upgrade(exchange, sent, socket);
  if (!isStream(body)) return responseOf(sent);
  const { readable, writable } = pathFor(body);
  exchange.keepAlive(stream(exchange, body, writable));
  return responseOf(sent, readable);
}

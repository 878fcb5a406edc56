import { batch } from "../../src/logging/writer.ts";
import type { Sink } from "../../src/logging/writer.ts";
import { isTaken, listenAt } from "../../src/server/options.ts";
import type { Limits, ServeOptions } from "../../src/server/options.ts";
import type { Serving } from "./respond.ts";
import type { DenoRuntime, DenoServeOptions, Signal } from "./runtime.ts";

declare const Deno: DenoRuntime;

/** What came of listening: a server for each address, and where that is in words. */
interface DenoServers {
  readonly servers: readonly Serving[];
  readonly port: number;
  readonly url: string;
  readonly bound: string;
}

type Where = Pick<DenoServeOptions, "hostname" | "port" | "path">;
type DenoServe = (where: Where) => Serving;

export async function listen({ host, port, socket }: Limits, serve: DenoServe): Promise<DenoServers> {
  if (socket !== undefined) {
    const server = await listenOn(socket, () => serve({ path: socket }));
    return { servers: [server], port: 0, url: `unix:${socket}`, bound: socket };
  }
  const listenerAt = (hostname: string, port: number) => {
    const server = serve({ hostname, port });
    return { server, port: server.addr.port as number, close: () => server.shutdown() };
  };
  const { listeners, port: taken, bound } = listenAt(host, port, listenerAt);
  const servers = listeners.map(({ server }) => server);
  return { servers, port: taken, url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`, bound };
}

// A socket left behind by a server that died is in the way; a living server's, or a file that is none, stays.
async function listenOn(path: string, serve: () => Serving): Promise<Serving> {
  try {
    return serve();
  } catch (error) {
    if (!isTaken(error) || !(await isLeftBehind(path))) throw error;
  }
  Deno.removeSync(path);
  return serve();
}

async function isLeftBehind(path: string): Promise<boolean> {
  if (Deno.lstatSync(path).isSocket !== true) return false;
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return false;
  } catch (error) {
    return (error as { readonly code?: string }).code === "ECONNREFUSED";
  }
}

/** Bytes of a head that Deno takes, whatever it is asked for. */
const mostHeaderBytes = 65_536;

/** What was asked for and cannot be had, in words for the log. */
export function unkept(options: ServeOptions): readonly string[] {
  const { headTimeoutMs, idleTimeoutMs, maxConnections, maxHeaderBytes = 0 } = options;
  const why: string[] = [];
  if (headTimeoutMs !== undefined) why.push("headTimeoutMs is not kept on Deno, which waits for a head for ever");
  if (idleTimeoutMs !== undefined) why.push("idleTimeoutMs is not kept on Deno, which keeps a connection for ever");
  if (maxConnections !== undefined) why.push("maxConnections is not kept on Deno, which takes every connection");
  if (maxHeaderBytes > mostHeaderBytes) why.push(`maxHeaderBytes is at most ${mostHeaderBytes} on Deno`);
  return why;
}

/** Has a stop signal do something, once: the next one does what it does to any process. */
export class StopSignals {
  // Windows has no other that Deno could hear.
  readonly #signals: readonly Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGTERM", "SIGINT"];
  readonly #act: () => void;
  #heard = false;

  constructor(act: () => void) {
    this.#act = act;
  }

  hear(): void {
    this.#heard = true;
    for (const signal of this.#signals) Deno.addSignalListener(signal, this.#on);
  }

  forget(): void {
    if (!this.#heard) return;
    this.#heard = false;
    for (const signal of this.#signals) Deno.removeSignalListener(signal, this.#on);
  }

  readonly #on = (): void => {
    this.forget();
    this.#act();
  };
}

declare function addEventListener(type: "unload" | "error" | "unhandledrejection", listener: () => void): void;

/** Standard error, many lines to a write, the last of them when the process exits. */
export function stderrSink(): Sink {
  return (sink ??= makeSink());
}

// One for the process, however many servers it has: they write to one place.
let sink: Sink | undefined;

function makeSink(): Sink {
  const encoder = new TextEncoder();
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  const made = batch({
    format: Deno.stderr.isTerminal() ? "pretty" : "json",
    room: (bytes) => new Uint8Array(bytes),
    encode: (text, into, at) => encoder.encodeInto(text, into.subarray(at)).written,
    // Deno has no write that does not wait for a pipe's reader, and gives no right to open one anew.
    write: (bytes) => Deno.stderr.writeSync(bytes),
    pause: (ms) => {
      Atomics.wait(asleep, 0, 0, ms);
    },
  });
  addEventListener("unload", made.finish);
  // What nobody catches ends a process without an `unload`.
  addEventListener("error", made.finish);
  addEventListener("unhandledrejection", made.finish);
  return made;
}

import { batch, byLines } from "../../src/doors/logging.ts";
import type { Sink } from "../../src/doors/logging.ts";
import { checkReusePort, listenAt } from "../../src/doors/server.ts";
import type { StopSignals, Limits, ServeOptions } from "../../src/doors/server.ts";
import type { Serving } from "./respond.ts";
import type { DenoRuntime, DenoServeOptions, Signal } from "./runtime.ts";

declare const Deno: DenoRuntime;

type Where = Pick<DenoServeOptions, "hostname" | "port" | "path" | "reusePort">;
type DenoServe = (where: Where) => Serving;

/** Listens on the address of the options, with a server for each. */
export function listen(limits: Limits, serve: DenoServe): ReturnType<typeof listenAt<Serving>> {
  const { reusePort } = limits;
  checkReusePort(limits, Deno.build.os, ["linux"]);
  return listenAt(limits, {
    listenOn: (hostname, port) => serve(reusePort === true ? { hostname, port, reusePort } : { hostname, port }),
    listenAtPath: (path) => serve({ path }),
    portOf: ({ addr }) => addr.port as number,
    close: (server) => server.shutdown(),
    sockets: {
      socketAt: (path) => {
        const { isSocket, ino, mtime } = Deno.lstatSync(path);
        return isSocket === true ? `${ino} ${mtime?.getTime()}` : undefined;
      },
      isDead,
      remove: (path) => Deno.removeSync(path),
    },
  });
}

async function isDead(path: string): Promise<boolean> {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return false;
  } catch (error) {
    return (error as { readonly code?: string }).code === "ECONNREFUSED";
  }
}

/** Deno's limit of a head, which cannot be changed. */
const maxDenoHeaderBytes = 65_536;

/** The options that Deno ignores, as warnings. */
export function warningsFor(options: ServeOptions): readonly string[] {
  const { headTimeoutMs, idleTimeoutMs, maxConnections, maxHeaderBytes = 0, http2 } = options;
  const warnings: string[] = [];
  if (headTimeoutMs !== undefined) warnings.push("headTimeoutMs is not kept on Deno, which waits for a head for ever");
  if (idleTimeoutMs !== undefined)
    warnings.push("idleTimeoutMs is not kept on Deno, which keeps a connection for ever");
  if (maxConnections !== undefined) warnings.push("maxConnections is not kept on Deno, which takes every connection");
  if (maxHeaderBytes > maxDenoHeaderBytes) warnings.push(`maxHeaderBytes is at most ${maxDenoHeaderBytes} on Deno`);
  if (http2 === false)
    warnings.push("http2 is not kept on Deno, which speaks HTTP/2 with each client that asks for it");
  return warnings;
}

// On Windows Deno supports no other.
const signals = (): readonly Signal[] => (Deno.build.os === "windows" ? ["SIGINT"] : ["SIGTERM", "SIGINT"]);
/** What listens now: Deno throws for a listener that it does not have. */
const listening = new Set<() => void>();

export const stopSignals: StopSignals = {
  listen: (act) => {
    listening.add(act);
    for (const signal of signals()) Deno.addSignalListener(signal, act);
  },
  forget: (act) => {
    if (!listening.delete(act)) return;
    for (const signal of signals()) Deno.removeSignalListener(signal, act);
  },
};

declare function addEventListener(type: "unload" | "error" | "unhandledrejection", listener: () => void): void;

/** Standard error, with many lines in a write; the last ones are written when the process exits. */
export function stderrSink(): Sink {
  return (sink ??= makeSink());
}

// One for the process, because all its servers write to one place.
let sink: Sink | undefined;

function makeSink(): Sink {
  const made = batch({
    format: Deno.stderr.isTerminal() ? "pretty" : "json",
    isColored: Deno.stderr.isTerminal() && !Deno.noColor,
    // Deno has no non-blocking write to a pipe, and no permission to open one again.
    write: byLines((bytes) => Deno.stderr.writeSync(bytes)),
  });
  addEventListener("unload", made.finish);
  // An uncaught error ends a process without an `unload`.
  addEventListener("error", made.finish);
  addEventListener("unhandledrejection", made.finish);
  return made;
}

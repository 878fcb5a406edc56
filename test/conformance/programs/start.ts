/**
 * The common part of all server programs: starts each configuration on a free port, and prints the ports on one line.
 */
import { Log } from "usher-http";
import type { Route } from "usher-http";
import { alone, configurations } from "../app/configurations.ts";
import type { Configured } from "../app/configurations.ts";
import type { Alone } from "../targets/target.ts";

interface Options {
  readonly port: number;
  readonly host: string;
  readonly signals: boolean;
  readonly drainMs: number;
}

type Serve = (routes: readonly Route[], options: Configured["options"] & Options) => Promise<{ readonly port: number }>;

export async function startAll(serve: Serve): Promise<void> {
  Log.setup({ format: "json" });
  const only = JSON.parse(process.argv[2] ?? "null") as Alone | null;
  const ports: { [configuration: string]: number } = {};
  for (const [name, { routes, options }] of Object.entries(configurations)) {
    if (only === null ? alone.has(name) : name !== only.on) continue;
    const { port } = await serve(routes, {
      ...options,
      port: 0,
      host: "127.0.0.1",
      signals: only !== null,
      drainMs: only?.drainMs ?? 0,
    });
    ports[name] = port;
  }
  console.log(JSON.stringify(ports));
}

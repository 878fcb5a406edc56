/**
 * Run by another runtime: a control server, which makes servers of `Speaking`'s routes and reports the events of their handlers.
 * One server lives at a time, and all of them in one process.
 */
import { Log, Path, Returns, get, post } from "usher-http";
import type { Route } from "usher-http";
import type { ServeOptions, Server } from "../../../src/server/options.ts";
import { Speaking, drainMs } from "./routes.ts";

export async function main(serve: (routes: readonly Route[], options: ServeOptions) => Promise<Server>): Promise<void> {
  let lines: string[] = [];
  Log.setup({ format: "json", out: (line) => lines.push(line) });
  let speaking = new Speaking();
  let server: Server | undefined;
  const at = { host: "127.0.0.1", port: 0, signals: false };
  const control = (name: string, act: () => unknown) =>
    post(Path.of(name), { returns: Returns.text }, async () => JSON.stringify((await act()) ?? null));
  const { port, url } = await serve(
    [
      control("begin", async () => {
        lines = [];
        speaking = new Speaking();
        // Bun tells that a client has gone, while more is sent than it reads, only by this.
        server = await serve(speaking.routes, { ...at, drainMs, sendTimeoutMs: 1000 });
        return server.port;
      }),
      control("let-in", () => speaking.letIn.open()),
      control("end-all", () => speaking.over.open()),
      control("spoken", () => speaking.all),
      control("stop", () => void server?.stop()),
      control("stopped", () => server?.stopped),
      control("lines", () => lines.map((line) => JSON.parse(line) as unknown)),
      get(Path.of("alive"), { returns: Returns.text }, () => "yes"),
    ],
    at,
  );
  console.log(JSON.stringify({ port, url }));
}

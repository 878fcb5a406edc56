/** Run by each Node: a server with a request whose handler never ends. Nothing else keeps the process alive while it stops. */
import { Path, Returns, clientGone, get } from "usher-http";
import { serve } from "../../../adapters/node/index.ts";
import type { ServeOptions } from "../../../adapters/node/index.ts";

const tell = (what: string): void => console.log(JSON.stringify({ what }));

const never = get(Path.of("never"), { inputs: { clientGone }, returns: Returns.text }, ({ clientGone }) => {
  tell("asked");
  clientGone.addEventListener("abort", () => tell("gone"));
  return new Promise<string>(() => {});
});

const options = JSON.parse(process.argv[2] ?? "{}") as ServeOptions;
const server = await serve([never], { port: 0, host: "127.0.0.1", ...options });
console.log(JSON.stringify({ port: server.port, url: server.url }));
tell(`stopped: ${await server.stopped}`);

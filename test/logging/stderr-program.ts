/** Run by a runtime: logs to standard error and ends, as its input says. */
import process from "node:process";
import { Codec, Log, Path, Query, Returns, get } from "../../src/index.ts";
import type { Serve } from "../support/spawned/routes.ts";

const [runtime = "node"] = process.argv.slice(2);
const { serve } = (await import(`../../adapters/${runtime}/index.ts`)) as { readonly serve: Serve };
Log.setup({ levels: { "framework.http": undefined } });

const shop = Log.source("shop");
const filling = "x".repeat(980);
let logged = 0;

function say(lines: number): void {
  for (let i = 0; i < lines; i++) shop.info(filling, { n: logged++ });
}

const inputs = { lines: Query.required("lines", Codec.int) };
const routes = [
  get(Path.of("say"), { inputs, returns: Returns.text }, ({ lines }) => {
    say(lines);
    return String(logged);
  }),
  get(Path.of("exit"), { inputs, returns: Returns.text }, ({ lines }): string => {
    say(lines);
    process.exit(3);
  }),
  get(Path.of("raise"), { inputs, returns: Returns.text }, ({ lines }) => {
    setTimeout(() => {
      say(lines);
      throw new Error("nobody catches it");
    }, 0);
    return "";
  }),
  get(Path.of("end"), { inputs, returns: Returns.text }, ({ lines }) => {
    setTimeout(() => {
      say(lines);
      process.kill(process.pid, "SIGTERM");
    }, 0);
    return "";
  }),
];
const server = await serve(routes, { port: 0, host: "127.0.0.1", drainMs: 200 });
console.log(server.port);

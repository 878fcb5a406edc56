import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { runtimes } from "../../support/runtimes.ts";
import type { Configuration } from "../case.ts";
import { alone, configurations } from "../app/configurations.ts";
import { bundle, folder } from "./bundle.ts";
import { running } from "./running.ts";
import type { Running, Target } from "./target.ts";

/**
 * `usher-http/workers` on workerd itself, a Worker and a socket for each configuration: Miniflare, which brings it, would
 * put a Worker of its own before them, and rewrite on the way what a case sends.
 */
export const workerd: Target = {
  name: "workerd",
  // Cloudflare tells a Worker by it who its peer is.
  network: [["cf-connecting-ip", "127.0.0.1"]],
  takeoverless: "a Worker answers with a Response",
  unstoppable: "a Worker has no listener that it could stop",
  unlimited: "a Worker has no listener whose patience it could set",
  start,
};

const names = Object.keys(configurations).filter((name) => !alone.has(name));

async function start(): Promise<Running> {
  const files = folder();
  writeFileSync(join(files.path, "program.js"), await bundle(new URL("../programs/workers.ts", import.meta.url)));
  for (const name of names) writeFileSync(join(files.path, `${name}.js`), `export default ${JSON.stringify(name)};`);
  writeFileSync(join(files.path, "config.capnp"), configured());
  // workerd tells the ports it took on a descriptor of its own.
  const child = spawn(runtimes.workerd(), ["serve", "config.capnp", "--control-fd=3"], {
    cwd: files.path,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  child.once("close", files.remove);
  const ports: { [C in Configuration]?: number } = {};
  return running("workerd", child, child.stdio[3] as Readable, (line) => {
    const told = JSON.parse(line) as { readonly event: string; readonly socket: Configuration; readonly port: number };
    if (told.event === "listen") ports[told.socket] = told.port;
    return Object.keys(ports).length === names.length ? ports : undefined;
  });
}

function configured(): string {
  const of = (text: (name: string) => string): string => names.map(text).join("\n    ");
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    ${of((name) => `(name = "${name}", worker = .${name}),`)}
  ],
  sockets = [
    ${of((name) => `(name = "${name}", address = "127.0.0.1:0", http = (), service = "${name}"),`)}
  ],
);
${names.map(worker).join("")}`;
}

function worker(name: string): string {
  return `const ${name} :Workerd.Worker = (
  modules = [
    (name = "program.js", esModule = embed "program.js"),
    (name = "configuration", esModule = embed "${name}.js"),
  ],
  compatibilityDate = "2026-07-01",
  compatibilityFlags = ["nodejs_als", "enable_request_signal"],
);
`;
}

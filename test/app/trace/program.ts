/**
 * Run by Node 24: serves the README's first program. Each function of the framework's source records its file when it is
 * entered, and writes the files that one warm `GET` entered, in order, as JSON.
 */
import { readFileSync } from "node:fs";
import { Agent, get as request } from "node:http";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import process from "node:process";
import { noting } from "./noting.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const entered: string[] = [];
Object.assign(globalThis, { noteEntered: (file: string) => entered.push(file) });

registerHooks({
  load(url, context, next) {
    const file = url.startsWith("file:") ? fileURLToPath(url) : "";
    if (!file.startsWith(`${root}src/`) && !file.startsWith(`${root}adapters/`)) return next(url, context);
    const source = stripTypeScriptTypes(readFileSync(file, "utf8"));
    return { format: "module", source: noting(source, file.slice(root.length)), shortCircuit: true };
  },
});

const { Path, Returns, get, param } = await import("../../../src/index.ts");
const { serve } = await import("../../../adapters/node/index.ts");
const name = Path.str("name");
const hello = get(
  Path.of("hello", name),
  { inputs: { who: param(name) }, returns: Returns.text },
  ({ who }) => `Hello, ${who}.`,
);
const server = await serve([hello], { port: 0, host: "127.0.0.1", signals: false });
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Sends one request, and waits until the log line is written. */
function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    request({ port: server.port, host: "127.0.0.1", path: "/hello/kim", agent }, (response) => {
      response.resume();
      response.on("end", () => setTimeout(resolve, 20));
    }).on("error", reject);
  });
}

for (let i = 0; i < 20; i++) await ask();
// A timer of the listener may run during one of them.
let files: readonly string[] | undefined;
for (let i = 0; i < 10; i++) {
  entered.length = 0;
  await ask();
  if (files === undefined || entered.length < files.length) files = entered.slice();
}
agent.destroy();
await server.stop();
process.stdout.write(JSON.stringify(files), () => process.exit());

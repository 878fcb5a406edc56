/**
 * `node bench/unread/index.mjs [--clients N] [--listeners node,http2,bun,deno] [--kinds "pipelined;large;…"] [--seconds N]`: clients that ask
 * and read nothing, 10,000 of one kind at a time, on each listener. Prints the memory of the server, the bytes that wait, how many clients it
 * disconnected, and how long a client that reads waits, as a table. It fails where more waits than the budget, or a client that reads is not
 * answered. Needs twice as many descriptors as clients (`ulimit -n`), and Python. `app.fetch` and Workers have no connections of their own:
 * what waits there is the platform's.
 *
 * Where the machine gives a network namespace, the system buffers 64 KiB for a connection there: by default it takes up to 4 MiB, of which a
 * server learns nothing.
 */
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { request } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { table } from "../harness/figures.mjs";
import { linkOwn } from "../harness/packages.mjs";
import { binaries } from "../runtimes/binaries.mjs";

const listeners = {
  node: {
    module: "node",
    run: () => ({ path: process.execPath, args: [] }),
    kinds: ["pipelined", "large", "file", "events", "socket"],
  },
  http2: { module: "node", run: () => ({ path: process.execPath, args: [] }), kinds: ["window 0", "window 0, file"] },
  // A request that is pipelined behind one that waits closes the connection on Bun.
  bun: { module: "bun", run: binaries.bun, kinds: ["large", "file", "events", "socket"] },
  deno: {
    module: "deno",
    run: binaries.deno,
    kinds: ["pipelined", "large", "file", "events", "socket", "window 0", "window 0, file"],
  },
};
const all = [...new Set(Object.values(listeners).flatMap(({ kinds }) => kinds))];
const { values } = parseArgs({
  options: {
    clients: { type: "string", default: "10000" },
    listeners: { type: "string", default: Object.keys(listeners).join(",") },
    kinds: { type: "string", default: all.join(";") },
    seconds: { type: "string", default: "5" },
    options: { type: "string", default: "{}" },
    here: { type: "boolean", default: false },
  },
});

/** How the system buffers less for a connection, in a network of its own. */
const apart = [
  "unshare",
  "--net",
  ...(process.getuid?.() === 0 ? [] : ["--map-root-user"]),
  "sh",
  "-c",
  'ip link set lo up && echo 4096 16384 65536 > /proc/sys/net/ipv4/tcp_wmem && ulimit -n "$(ulimit -Hn)" && exec "$@"',
  "sh",
];
if (!values.here && spawnSync(apart[0], [...apart.slice(1), "true"]).status === 0) {
  const [command, ...args] = [...apart, process.execPath, ...process.argv.slice(1), "--here"];
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  process.exit(status ?? 1);
}

/** A process, and the next line that it prints. */
function start(path, args) {
  const child = spawn(path, args, { stdio: ["pipe", "pipe", "inherit"] });
  process.once("exit", () => child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value ?? "";
  return { child, next };
}

/** The most memory that a process has had, in MiB. */
const peakRss = (pid) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

/** Asks on a connection of its own. Resolves with how long it took; rejects where it is not answered with 200. */
function healthy(port) {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: "127.0.0.1", path: "/small", agent: false, timeout: 60_000 }, (response) => {
      response.resume().once("end", () => {
        if (response.statusCode === 200) resolve(performance.now() - began);
        else reject(new Error(`status ${response.statusCode}`));
      });
    });
    asked.once("timeout", () => asked.destroy(new Error("no answer"))).once("error", reject);
    asked.end();
  });
}

async function measure(name, kind, clients) {
  const { module, run } = listeners[name];
  const { path, args } = run();
  const here = (file) => fileURLToPath(new URL(file, import.meta.url));
  const options = { ...(name === "http2" && { http2: true }), ...JSON.parse(values.options) };
  const server = start(path, [...args, here("serve.mjs"), module, JSON.stringify(options)]);
  const { port } = JSON.parse(await server.next());
  const mute = start("python3", [here("clients.py"), String(port), String(clients), kind]);
  const began = performance.now();
  const [times, failures] = [[], []];
  let isOver = false;
  const watch = (async () => {
    while (!isOver) {
      await healthy(port).then(
        (ms) => times.push(ms),
        (error) => failures.push(error.message),
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  const asked = await mute.next();
  if (!asked.includes(" 0 failed")) console.error(asked);
  await new Promise((resolve) => setTimeout(resolve, Number(values.seconds) * 1000));
  isOver = true;
  await watch;
  const seconds = (performance.now() - began) / 1000;
  server.child.stdin.write("held\n");
  const { waiting, peak, budget } = JSON.parse(await server.next());
  const { pid } = server.child;
  const [peakMb, descriptors] = [peakRss(pid), readdirSync(`/proc/${pid}/fd`).length];
  server.child.stdin.write("stop\n");
  const { closed } = JSON.parse((await server.next()) || '{"closed":"?"}');
  mute.child.stdin.end();
  server.child.kill("SIGKILL");
  if (failures.length > 0) console.error(failures.join(", "));
  if (failures.length > 0 || peak > budget) process.exitCode = 1;
  times.sort((a, b) => a - b);
  const mb = (bytes) => (bytes / 1e6).toFixed(0);
  const answered = `${times.length} of ${times.length + failures.length}`;
  return [
    name,
    kind,
    String(clients),
    peakMb.toFixed(0),
    mb(peak),
    mb(waiting),
    String(closed),
    String(descriptors),
    answered,
    times[times.length >> 1]?.toFixed(1) ?? "",
    times.at(-1)?.toFixed(0) ?? "",
    seconds.toFixed(0),
  ];
}

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
process.setMaxListeners(0);
linkOwn();
const rows = [];
for (const name of values.listeners.split(",")) {
  for (const kind of listeners[name].kinds) {
    if (!values.kinds.split(";").includes(kind)) continue;
    const row = await measure(name, kind, Number(values.clients));
    console.error(row.join(" | "));
    rows.push(row);
  }
}
const head = [
  "listener",
  "kind",
  "clients",
  "peak RSS, MiB",
  "peak waiting, MB",
  "waiting, MB",
  "disconnected",
  "descriptors",
  "healthy answered",
  "p50, ms",
  "max, ms",
  "seconds",
];
console.log(table(head, rows));

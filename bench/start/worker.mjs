/** A Worker of one route: from the start of `workerd`, with a fresh isolate, to its first answer. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { basename, dirname } from "node:path";
import { median, rotated, spread, table } from "../harness/figures.mjs";
import { bars } from "../harness/series.mjs";
import { withBundles } from "./bundles.mjs";

const require = createRequire(import.meta.url);
const { default: workerd } = createRequire(require.resolve("miniflare"))("workerd");

const programs = {
  "by-hand-worker": "`new Response` by hand",
  "hono-worker": "Hono",
  "usher-worker": "usher",
  "usher-modules-worker": "usher, by `usher-http/path` and `usher-http/returns`",
};

/** Each Worker once a round, each time another one first; differences are taken within a round. @param {number} rounds */
export async function workerAnswers(rounds) {
  const names = Object.keys(programs);
  const figures = await withBundles("workerd", names, async (bundles) => {
    const found = Object.fromEntries(names.map((name) => [name, []]));
    for (const name of names) configure(bundles[name]);
    for (let round = 0; round < rounds; round++) {
      for (const name of rotated(names, round)) found[name].push(await started(bundles[name]));
    }
    return found;
  });
  const more = (name, what) => median(figures[name].map((each, i) => each[what] - figures["hono-worker"][i][what]));
  const rows = names.map((name) => [
    programs[name],
    ...["ms", "cpu", "rss"].flatMap((what) => [
      spread(figures[name].map((each) => each[what])),
      more(name, what).toFixed(1),
    ]),
    name.startsWith("usher") ? "≤ Hono's + 10 ms" : "",
  ]);
  const head = [
    "a Worker in `workerd`",
    "first answer, ms",
    "more than Hono",
    "CPU, ms",
    "more",
    "memory, MB",
    "more",
    "target",
  ];
  const values = names.map((name) => [programs[name], figures[name].map(({ cpu }) => cpu)]);
  const shown = { title: "CPU of a Worker until its first answer", unit: "ms", better: "less" };
  const series = [bars({ ...shown, baseline: programs["hono-worker"] }, { "": Object.fromEntries(values) })];
  return { text: table(head, rows), series };
}

/** @param {string} bundle */
function configure(bundle) {
  writeFileSync(
    `${bundle}.capnp`,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .program)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const program :Workerd.Worker = (
  modules = [(name = "program", esModule = embed "${basename(bundle)}")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["nodejs_compat"]
);
`,
  );
}

/** @param {string} bundle */
async function started(bundle) {
  const start = performance.now();
  const child = spawn(workerd, ["serve", `${basename(bundle)}.capnp`, "--control-fd=1"], {
    cwd: dirname(bundle),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { port } = JSON.parse(await until(child.stdout, "}"));
  const socket = connect(port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nhost: a.example\r\n\r\n");
  const answer = await until(socket, "Hello.");
  const ms = performance.now() - start;
  socket.destroy();
  if (!answer.startsWith("HTTP/1.1 200 ")) throw new Error(`${bundle} answered ${answer}`);
  const figures = { ms, ...usedBy(child.pid) };
  child.kill("SIGKILL");
  await once(child, "exit");
  return figures;
}

/** @param {import("node:stream").Readable} stream @param {string} end */
async function until(stream, end) {
  let text = "";
  while (!text.includes(end)) text += (await once(stream, "data"))[0];
  return text;
}

/** Of its main thread, which runs the isolate, to the nanosecond; of its memory, what is resident. @param {number} pid */
function usedBy(pid) {
  const cpu = Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
  const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1000;
  return { cpu, rss };
}

import { Agent } from "node:http";
import { digits, table } from "../harness/figures.mjs";
import { curves, section } from "../harness/series.mjs";
import { Process } from "../server/processes.mjs";
import { runClients } from "./clients.mjs";
import { faultsOf, minMinutes, timesOf } from "./verdict.mjs";

const columns = ["heldMb", "rssMb", "handles", "descriptors"];
const usualMinutes = 30;
const maxMinutes = 600;

/**
 * Mixed load for minutes, with clients that leave, stall and lie. It throws where something grows without end, or where a
 * well-behaved client was not served.
 *
 * @param {object} options
 * @param {boolean} options.quick
 * @param {number} [options.minutes]
 * @param {number} [options.minuteMs] How long a minute takes.
 * @param {(answers: () => number) => Promise<void>} [options.minute] Resolves when a minute is over; it may look at the answers in it.
 * @param {string} [options.program] The server's.
 */
export async function run({
  quick,
  minutes = quick ? minMinutes : usualMinutes,
  minuteMs = quick ? 5000 : 60_000,
  minute: passed = () => new Promise((resolve) => setTimeout(resolve, minuteMs)),
  program = "../soak/serve.mjs",
}) {
  if (!(minutes >= minMinutes && minutes <= maxMinutes))
    throw new Error(`--minutes ${minutes}: a soak takes ${minMinutes} to ${maxMinutes} minutes`);
  const server = new Process(program, [], { execArgv: ["--expose-gc"] });
  const { port } = await server.next();
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  let isOver = false;
  let times = [];
  const reasons = [];
  let failures = 0;
  const fail = (reason) => {
    failures++;
    if (reasons.length < 10) reasons.push(reason);
  };
  const soak = { port, agent, isOver: () => isOver, note: (ms) => void times.push(ms), fail };
  const running = runClients(soak, { clients: quick ? 1 : 4, pauseMs: 20 });
  const measured = [];
  for (let minute = 1; minute <= minutes; minute++) {
    await passed(() => times.length);
    const now = times;
    times = [];
    const failed = failures;
    failures = 0;
    measured.push({
      minute,
      ...(await server.ask("held")),
      requests: now.length,
      failures: failed,
      times: timesOf(now),
    });
  }
  isOver = true;
  await running;
  agent.destroy();
  await server.stop();
  const found = shown(measured, minuteMs);
  const faults = [...faultsOf(measured), ...reasons];
  if (faults.length > 0) throw new Error(`the soak found:\n${faults.join("\n")}\n\n${found.text}`);
  return found;
}

function shown(measured, minuteMs) {
  const line = (of) => new Map(measured.map((one) => [one.minute, [of(one)]]));
  const about = /** @type {const} */ ({ better: "less", x: "minutes" });
  const rows = measured.map((one) => [
    String(one.minute),
    ...columns.map((key) => digits(one[key])),
    one.requests.toLocaleString("en"),
    ...Object.values(one.times).map((ms) => digits(ms)),
  ]);
  const percentiles = Object.keys(measured[0].times).map((key) => [
    key.replace("999", "99.9"),
    line(({ times }) => times[key]),
  ]);
  return section(
    [
      "## Soak",
      `Minutes of ${minuteMs / 1000} s: GET, POST, bad inputs, files, uploads, event streams and sockets, next to clients that leave, stall and lie. ` +
        "No request of a well-behaved client failed, and nothing grew without end. Times are of well-behaved clients, with the wait for the load's own process.",
      table(
        ["minute", "held, MB", "process, MB", "handles", "descriptors", "answers", "p50 ms", "p90", "p99", "p99.9"],
        rows,
      ),
    ],
    [
      curves(
        { ...about, title: "Memory in a soak", unit: "MB" },
        { "usher, held": line((one) => one.heldMb), process: line((one) => one.rssMb) },
      ),
      curves(
        { ...about, title: "Handles and descriptors in a soak", unit: "count" },
        { handles: line((one) => one.handles), descriptors: line((one) => one.descriptors) },
      ),
      curves({ ...about, title: "Times in a soak", unit: "ms" }, Object.fromEntries(percentiles)),
    ],
  );
}

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cases, checkAnswer } from "../apps/cases.mjs";
import { rotated } from "../harness/figures.mjs";
import { candidates as onNode } from "./candidates.mjs";
import { Process } from "./processes.mjs";

export const measured = { text: cases.text, inputs: cases.inputs, post: cases.post };

/** @typedef {{ cpu: number, seconds: number }} Used CPU in microseconds a request; seconds a request. */

/**
 * One round: starts every server in a new process, warms it up, then loads all in turns, slice by slice, so that other work
 * of the machine affects all of them alike.
 *
 * @param {object} options
 * @param {number} options.count
 * @param {number} options.slices
 * @param {number} options.warmUp
 * @param {number} options.round
 * @param {Readonly<Record<string, import("./candidates.mjs").Candidate>>} [options.candidates]
 * @param {(who: string, stderr: string | undefined) => Process} [options.launch] Starts a candidate in a new process.
 * @returns {Promise<Map<string, { used: Readonly<Record<string, Used>>, peakRss: number }>>} By candidate.
 */
export async function playRound({ count, slices, warmUp, round, candidates = onNode, launch = launchOnNode }) {
  const folder = mkdtempSync(join(tmpdir(), "usher-bench-"));
  const load = new Process("load.mjs", []);
  const servers = [];
  for (const [who, { name, logs }] of Object.entries(candidates)) {
    const lines = logs ? join(folder, `${who}.log`) : undefined;
    const process = launch(who, lines);
    const { port } = await process.next();
    for (const asked of Object.values(measured)) await check(name, port, asked);
    servers.push({ who, process, port, lines, requests: 0, used: {} });
  }
  const send = async (server, asked, count) => {
    const used = await slice(load, server, asked, count);
    server.requests += used.requests;
    return used;
  };
  const warm = async (count) => {
    for (const server of servers) for (const asked of Object.values(measured)) await send(server, asked, count);
  };
  await warm(warmUp);
  // A long-running server has had a full collection. Only then it shows if each request refers to the previous one, which
  // adds half of a request's cost.
  for (const { process } of servers) await process.ask("settle");
  await warm(warmUp);
  for (const [which, asked] of Object.entries(measured)) {
    for (const server of servers) server.used[which] = { cpu: 0, seconds: 0 };
    for (let i = 0; i < slices; i++) {
      for (const server of rotated(servers, round + i)) {
        const { cpu, seconds } = await send(server, asked, count / slices);
        server.used[which].cpu += cpu / count;
        server.used[which].seconds += seconds / count;
      }
    }
  }
  const results = new Map();
  for (const { who, process, used, lines, requests } of servers) {
    const { peakRss } = await process.ask("usage");
    await process.stop();
    if (lines !== undefined) checkLines(who, lines, requests + Object.keys(measured).length);
    results.set(who, { used, peakRss });
  }
  await load.stop();
  rmSync(folder, { recursive: true });
  return results;
}

/** CPU of the server by hand in each case of a round. @param {Awaited<ReturnType<typeof playRound>>} round */
export function byHand(round) {
  return Object.values(round.get("raw").used).map(({ cpu }) => cpu);
}

function launchOnNode(who, stderr) {
  return new Process("serve.mjs", [who], { stderr, execArgv: ["--expose-gc"] });
}

async function check(name, port, asked) {
  const { method, target, headers, body } = asked;
  const response = await fetch(`http://127.0.0.1:${port}${target}`, { method, headers, body: body ?? null });
  checkAnswer(name, asked, {
    status: response.status,
    type: response.headers.get("content-type"),
    text: await response.text(),
  });
}

/** Sends `count` requests and returns their cost. The connections are opened before. */
async function slice(load, { process, port }, asked, count) {
  const { requests } = await load.ask({ open: { port, asked } });
  const before = await process.ask("usage");
  const { seconds } = await load.ask({ count });
  const after = await process.ask("usage");
  await load.ask({ close: true });
  return { cpu: after.cpu - before.cpu, seconds, requests: requests + count };
}

function checkLines(who, file, requests) {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const access = lines.filter((line) => "http.response.status_code" in JSON.parse(line)).length;
  if (access !== requests) throw new Error(`${who} wrote ${access} access lines for ${requests} requests`);
}

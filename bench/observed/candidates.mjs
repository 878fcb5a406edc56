/**
 * The servers, each with all that is observed of a request: its id, its line in a file, its duration as a metric, its trace, and
 * its spans in a collector.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { candidates as servers } from "../server/candidates.mjs";

const host = "127.0.0.1";
/** The collector of the spans: the measuring process. */
const endpoint = process.env["COLLECTOR"] ?? "http://127.0.0.1:4318";

/** @typedef {import("../server/candidates.mjs").Candidate} Candidate */

/** The parts of new traces whose spans are sent. */
const ratios = [0, 0.01, 1];

/** @type {Readonly<Record<string, Candidate>>} */
export const candidates = {
  raw: servers["raw"],
  ...atEachRatio("usher", "usher", true, usher),
  ...atEachRatio("fastify", "Fastify", false, other("fastify")),
  ...atEachRatio("hono", "Hono", false, other("hono")),
};

/**
 * @param {string} who
 * @param {string} name
 * @param {boolean} logs Whether it writes its lines to standard error.
 * @param {(ratio: number) => Promise<number>} start
 */
function atEachRatio(who, name, logs, start) {
  const one = (ratio) => ({ name: `${name}, ${ratio * 100} % of spans`, logs, start: () => start(ratio) });
  return Object.fromEntries(ratios.map((ratio) => [`${who}-${ratio}`, one(ratio)]));
}

async function usher(ratio) {
  const { logTo, routes } = await import("../apps/usher.mjs");
  const { serve } = await import("usher-http/node");
  const { Metrics, Trace } = await import("usher-http");
  logTo("stderr");
  const trace = Trace.otlp({ endpoint, service: "bench", ratio });
  return (await serve([...routes, ...Metrics.routes()], { host, port: 0, trace })).port;
}

/** @param {"fastify" | "hono"} app */
function other(app) {
  return async (ratio) => {
    const { start } = await import(new URL(`others/${app}.mjs`, import.meta.url).href);
    return start(endpoint, ratio, join(mkdtempSync(join(tmpdir(), "usher-bench-")), `${app}.log`));
  };
}

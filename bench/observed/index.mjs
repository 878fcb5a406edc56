import { createServer } from "node:http";
import { quietRounds, roundsText } from "../harness/quiet.mjs";
import { section } from "../harness/series.mjs";
import { Process } from "../server/processes.mjs";
import { byHand, measured, playRound } from "../server/round.mjs";
import { costSeries, costs } from "../server/tables.mjs";
import { candidates as all } from "./candidates.mjs";

const sizes = {
  quick: { count: 6000, slices: 2, warmUp: 3000 },
  whole: { count: 40_000, slices: 10, warmUp: 10_000 },
};

/**
 * The cost of a request that is observed in every way, on Node.
 *
 * @param {{ quick: boolean, rounds?: number, size?: typeof sizes.quick, candidates?: typeof all }} options
 */
export async function run({
  quick,
  rounds: roundCount = quick ? 1 : 7,
  size = quick ? sizes.quick : sizes.whole,
  candidates = all,
}) {
  const collector = await startCollector();
  const launch = (who, stderr) => new Process("../observed/serve.mjs", [who], { stderr, execArgv: ["--expose-gc"] });
  const quiet = await quietRounds(roundCount, (round) => playRound({ ...size, round, candidates, launch }), byHand);
  const { rounds } = quiet;
  await collector.stop();
  return section(
    [
      "## Everything observed",
      `${size.count.toLocaleString("en")} requests a round over 64 kept connections; ${roundsText(quiet)}. Every server but the ` +
        "one by hand sends a request id, joins or begins a trace, writes a line to a file, and measures the duration. The part of " +
        "the traces that is named goes to a collector, as OTLP over HTTP with JSON, by OpenTelemetry's batch processor. The " +
        `collector is in another process, and took ${collector.posts().toLocaleString("en")} posts.`,
      "Fastify has pino, `@fastify/otel` and `@opentelemetry/instrumentation-http`: three spans for a request. Hono has its logger and " +
        "`@hono/otel`: one span, as Usher has.",
      ...Object.entries(measured).map(([which, { name }]) => costs(which, name, candidates, rounds)),
    ],
    costSeries("observed, on Node", candidates, rounds),
  );
}

/** Accepts every POST and ignores its body. */
async function startCollector() {
  let posts = 0;
  const server = createServer((request, response) => {
    posts++;
    request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  process.env["COLLECTOR"] = `http://127.0.0.1:${address.port}`;
  return {
    posts: () => posts,
    stop: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  };
}

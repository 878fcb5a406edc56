import { createServer } from "node:http";
import { Process } from "../server/processes.mjs";
import { measured, playRound } from "../server/round.mjs";
import { section } from "../harness/series.mjs";
import { costSeries, costs } from "../server/tables.mjs";
import { candidates } from "./candidates.mjs";

const targets = { "usher-logged": "≤ 1.30" };

/** The cost of logs and spans per request on Node. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds: roundCount = quick ? 1 : 7 }) {
  const size = quick ? { count: 6000, slices: 2, warmUp: 3000 } : { count: 100_000, slices: 20, warmUp: 20_000 };
  const collector = await startCollector();
  const launch = (who, stderr) => new Process("../logging/serve.mjs", [who], { stderr, execArgv: ["--expose-gc"] });
  const rounds = [];
  for (let round = 0; round < roundCount; round++) rounds.push(await playRound({ ...size, round, candidates, launch }));
  await collector.stop();
  return section(
    [
      "## Logs and traces",
      `${size.count.toLocaleString("en")} requests a round over 64 kept connections; rounds: ${rounds.length}. Every server is in a ` +
        "process of its own and writes its lines to a file; spans are posted to a collector in another, which took " +
        `${collector.posts().toLocaleString("en")} posts.`,
      ...Object.entries(measured).map(([which, { name }]) => costs(which, name, candidates, rounds, targets)),
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

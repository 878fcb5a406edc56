import { Agent, get } from "node:http";
import { digits, median, rotated, spread, table } from "../harness/figures.mjs";
import { bars, byName, section } from "../harness/series.mjs";
import { Process } from "../server/processes.mjs";
import { candidates, feeds } from "./candidates.mjs";

/** Idle streams that a server has had before its memory is measured. */
const warmUp = 200;

/** 100 KiB of JSON by gzip, and idle event streams. @param {{ quick: boolean }} options */
export async function run({ quick }) {
  // Many short rounds: what else the machine does is the same for all within one.
  const [requests, rounds, streams] = quick ? [20, 5, 200] : [50, 40, 1000];
  const cpu = await lists(requests, rounds);
  const memory = await idle(streams, quick ? 1 : 7);
  const ratio = (who, to) => digits(median(cpu[who].map((figure, round) => figure / cpu[to][round])));
  const rows = Object.entries(candidates).map(([who, { name, gzips }]) => {
    return [name, spread(cpu[who]), ratio(who, gzips === true ? "gzip" : "plain")];
  });
  const whos = Object.keys(candidates);
  const kinds = {
    gzip: whos.filter((who) => candidates[who].gzips === true),
    plain: whos.filter((who) => candidates[who].gzips !== true),
  };
  const costs = Object.entries(kinds).map(([kind, of]) =>
    bars(
      { title: `CPU of 100 KiB of JSON, ${kind}`, unit: "µs", better: "less", baseline: candidates[kind].name },
      { "": byName(candidates, of, (who) => cpu[who]) },
    ),
  );
  return section(
    [
      "## Compression, on Node",
      `100 KiB of JSON, level 6, ${requests} requests a round over one connection. Rounds: ${rounds}; the ratio is of one round.`,
      table(["", "CPU µs a request", "to the same by hand"], rows),
      `Event streams that got one event and are idle: the growth of the process after collections, by ${streams.toLocaleString("en")} and by as many more. ${warmUp} others have closed before.`,
      table(
        ["", "KiB a stream", "KiB a further stream"],
        feeds.map((who) => [candidates[who].name, spread(memory[who].first), spread(memory[who].further)]),
      ),
    ],
    [
      ...costs,
      bars(
        { title: "Memory of an idle event stream", unit: "KiB", better: "less" },
        {
          first: byName(candidates, feeds, (who) => memory[who].first),
          further: byName(candidates, feeds, (who) => memory[who].further),
        },
      ),
    ],
  );
}

/** @param {number} requests @param {number} rounds */
async function lists(requests, rounds) {
  const names = Object.keys(candidates);
  const servers = {};
  for (const who of names) {
    const server = new Process("../compress/serve.mjs", [who]);
    const { port } = await server.next();
    const gzips = candidates[who].gzips === true;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    servers[who] = { server, ask: () => ask({ port, agent, gzips }), agent };
    await load(servers[who], 200);
  }
  const figures = Object.fromEntries(names.map((who) => [who, []]));
  for (let round = 0; round < rounds; round++) {
    for (const who of rotated(names, round)) {
      const before = await servers[who].server.ask("used");
      await load(servers[who], requests);
      const after = await servers[who].server.ask("used");
      figures[who].push((after.cpu - before.cpu) / requests);
    }
  }
  for (const { server, agent } of Object.values(servers)) {
    agent.destroy();
    await server.stop();
  }
  return figures;
}

async function load({ ask }, requests) {
  for (let i = 0; i < requests; i++) await ask();
}

function ask({ port, agent, gzips }) {
  return new Promise((resolve, reject) => {
    const headers = { "accept-encoding": gzips ? "gzip" : "identity" };
    const asked = get({ port, host: "127.0.0.1", path: "/list", agent, headers }, (response) => {
      const isRight =
        response.statusCode === 200 && response.headers["content-encoding"] === (gzips ? "gzip" : undefined);
      if (!isRight) reject(new Error(`not as asked: ${response.statusCode}`));
      response.resume().once("end", resolve);
    });
    asked.once("error", reject);
  });
}

/**
 * What the process grows by for a stream, of so many and of as many more. Others have closed before: what the first
 * requests of a process compile and V8's young generation are not of a stream.
 * @param {number} streams
 * @param {number} rounds
 */
async function idle(streams, rounds) {
  const figures = Object.fromEntries(feeds.map((who) => [who, { first: [], further: [] }]));
  for (let round = 0; round < rounds; round++) {
    for (const who of rotated(feeds, round)) {
      const server = new Process("../compress/serve.mjs", [who], { execArgv: ["--expose-gc"] });
      const { port } = await server.next();
      const earlier = new Process("../compress/follow.mjs", [String(port), String(warmUp)]);
      await earlier.next();
      await earlier.stop();
      const clients = [];
      let before = await server.ask("settle");
      for (const kind of ["first", "further"]) {
        const client = new Process("../compress/follow.mjs", [String(port), String(streams)]);
        clients.push(client);
        await client.next();
        const after = await server.ask("settle");
        figures[who][kind].push((after.rss - before.rss) / 1024 / streams);
        before = after;
      }
      for (const client of clients) await client.stop();
      await server.stop();
    }
  }
  return figures;
}

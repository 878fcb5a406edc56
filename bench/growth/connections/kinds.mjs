/** Three kinds of connections, and how each is loaded. */
import { cases } from "../../apps/cases.mjs";
import { candidates as feeds } from "../../fanout/candidates.mjs";
import { Process } from "../../server/processes.mjs";
import { candidates as sockets } from "../../sockets/candidates.mjs";

const collects = { execArgv: ["--expose-gc"] };
const bytes = 32;

/**
 * @typedef {object} Kind
 * @property {string} title
 * @property {Readonly<Record<string, string>>} names By candidate.
 * @property {string} cost
 * @property {(who: string, count: number, turns: number) => Promise<{ cpu: number, held: number }>} play
 */

/** @type {readonly Kind[]} */
export const kinds = [
  {
    title: "kept connections",
    names: { raw: "`node:http` by hand", usher: "usher" },
    cost: "CPU of a request on kept connections",
    play: playKept,
  },
  {
    title: "event streams",
    names: namesOf(feeds, ["raw", "usher", "hono"]),
    cost: "CPU of the delivery of an event",
    play: playStreams,
  },
  {
    title: "WebSockets",
    names: namesOf(sockets, ["ws", "usher"]),
    cost: "CPU of an echoed message",
    play: playSockets,
  },
];

function namesOf(candidates, whos) {
  return Object.fromEntries(whos.map((who) => [who, candidates[who].name]));
}

/** Each connection asks, and waits for its answer. */
async function playKept(who, count, turns) {
  const server = new Process("../growth/connections/serve.mjs", [who], collects);
  const { port } = await server.next();
  const load = new Process("load.mjs", []);
  const empty = await server.ask("settle");
  await load.ask({ open: { port, asked: cases.text, connections: count } });
  const idle = await server.ask("settle");
  await load.ask({ count: turns });
  const before = await server.ask("usage");
  await load.ask({ count: turns });
  const after = await server.ask("usage");
  await load.ask({ close: true });
  await load.stop();
  await server.stop();
  return { cpu: (after.cpu - before.cpu) / turns, held: (idle.held - empty.held) / 1024 / count };
}

/** Events that reach every stream before the next one is published. */
async function playStreams(who, count, turns) {
  const server = new Process("../fanout/serve.mjs", [who], collects);
  const { port } = await server.next();
  const empty = await server.ask("settle");
  const clients = new Process("../fanout/subscribe.mjs", [String(port), String(count)]);
  await clients.next();
  const idle = await server.ask("settle");
  const events = Math.min(200, Math.max(5, Math.floor(turns / count)));
  let cpu = 0;
  for (let i = -3; i < events; i++) {
    const reached = clients.next();
    const before = await server.ask("publish");
    await reached;
    const after = await server.ask("used");
    if (i >= 0) cpu += after.cpu - before.cpu;
  }
  await clients.stop();
  await server.stop();
  return { cpu: cpu / events / count, held: (idle.held - empty.held) / 1024 / count };
}

async function playSockets(who, count, turns) {
  const server = new Process("../sockets/serve.mjs", [who], collects);
  const { port } = await server.next();
  const empty = await server.ask("settle");
  const load = new Process("../sockets/load.mjs", [port, count, bytes].map(String));
  await load.next();
  const idle = await server.ask("settle");
  const messages = Math.max(turns, 2 * count);
  await load.ask(messages);
  const before = await server.ask("used");
  await load.ask(messages);
  const after = await server.ask("used");
  await load.stop();
  await server.stop();
  return {
    // When the last message is counted, each socket has sent one more.
    cpu: (after.cpu - before.cpu) / (messages + count - 1),
    held: (idle.held - empty.held) / 1024 / count,
  };
}

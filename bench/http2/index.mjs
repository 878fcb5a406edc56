import { connect } from "node:http2";
import { cases, checkAnswer } from "../apps/cases.mjs";
import { digits, median, medianInterval, rotated, spread, table } from "../harness/figures.mjs";
import { bars, byName, section } from "../harness/series.mjs";
import { Process } from "../server/processes.mjs";
import { candidates } from "./candidates.mjs";

const connections = 4;
/** Streams at once on each connection. */
const streams = 16;
const asked = ["inputs", "post"];

/** CPU per request over HTTP/2. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 4 : 24 }) {
  const requests = quick ? 1000 : 2500;
  const names = Object.keys(candidates);
  const figures = {};
  for (const name of asked) {
    const servers = {};
    for (const who of names) {
      servers[who] = await opened(who);
      await checked(who, servers[who], cases[name]);
      await load(servers[who], cases[name], quick ? 5000 : 20_000);
    }
    // Many short rounds: other work of the machine affects both servers of one alike.
    for (let round = 0; round < rounds; round++) {
      for (const who of rotated(names, round)) {
        const before = await servers[who].server.ask("used");
        await load(servers[who], cases[name], requests);
        const after = await servers[who].server.ask("used");
        ((figures[name] ??= {})[who] ??= []).push((after.cpu - before.cpu) / requests);
      }
    }
    for (const server of Object.values(servers)) await closed(server);
  }
  return section(
    [
      "## HTTP/2",
      `Without TLS, ${connections} connections of ${streams} streams at once. Rounds of ${requests} requests: ${rounds}; the ratio is of one round. Bar: 1.10.`,
      table(
        ["", ...asked.flatMap((name) => [`\`${cases[name].name}\`, CPU µs`, "to `node:http2` by hand"])],
        names.map((who) => [candidates[who].name, ...asked.flatMap((name) => cells(figures[name], who))]),
      ),
    ],
    [
      bars(
        { title: "CPU of a request over HTTP/2", unit: "µs", better: "less", baseline: candidates.raw.name },
        Object.fromEntries(
          asked.map((name) => [cases[name].name, byName(candidates, names, (who) => figures[name][who])]),
        ),
      ),
    ],
  );
}

function cells(figures, who) {
  const ratios = figures[who].map((figure, round) => figure / figures.raw[round]);
  const { low, high } = medianInterval(ratios);
  return [spread(figures[who]), `${digits(median(ratios))} (${digits(low)} to ${digits(high)})`];
}

async function opened(who) {
  const server = new Process("../http2/serve.mjs", [who]);
  const { port } = await server.next();
  return { server, sessions: Array.from({ length: connections }, () => connect(`http://127.0.0.1:${port}`)) };
}

async function closed({ server, sessions }) {
  for (const session of sessions) session.destroy();
  await server.stop();
}

async function checked(who, { sessions }, request) {
  const { headers, text } = await ask(sessions[0], request);
  for (const name of ["date", "x-request-id", "content-length"])
    if (headers[name] === undefined) throw new Error(`${who} answered ${request.name} without ${name}`);
  checkAnswer(who, request, { status: headers[":status"], type: headers["content-type"], text });
}

async function load({ sessions }, request, requests) {
  let left = requests;
  const work = async (session) => {
    while (left-- > 0) await ask(session, request);
  };
  await Promise.all(sessions.flatMap((session) => Array.from({ length: streams }, () => work(session))));
}

function ask(session, { method, target, headers, body, status, name }) {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": method, ":path": target, ...headers });
    let [head, text] = [{}, ""];
    stream.on("response", (got) => (head = got)).on("data", (part) => (text += part));
    stream.on("error", reject).on("close", () => {
      if (head[":status"] === status) resolve({ headers: head, text });
      else reject(new Error(`${name} was answered with ${head[":status"]}`));
    });
    stream.end(body);
  });
}

/**
 * An open load: requests are sent when they are due, whatever became of those before them, as by clients who know nothing of each
 * other. A time is counted from when the request was due.
 */
import { connect } from "node:net";

/** How long after the last request answers are waited for. What comes later is not answered. */
const patienceMs = 2000;

/** @typedef {{ status: number, ms: number }} Answered */

/**
 * Sends `perSecond` requests a second for `seconds`, at random times that are the same for each server.
 *
 * @returns {Promise<{ sent: number, answers: Answered[] }>}
 */
export async function load(port, path, perSecond, seconds) {
  const idle = [];
  const open = new Set();
  const answers = [];
  const random = seeded(1);
  const begin = performance.now();
  const end = begin + seconds * 1000;
  let due = begin;
  let sent = 0;
  const answered = (connection, status, since) => {
    answers.push({ status, ms: performance.now() - since });
    if (connection.closes) connection.socket.destroy();
    else idle.push(connection);
  };
  while (due < end) {
    while (due < end && performance.now() >= due) {
      const connection = idle.pop() ?? opened(port, path, open);
      connection.ask(due, answered);
      sent++;
      due -= (Math.log(1 - random()) * 1000) / perSecond;
    }
    await new Promise(setImmediate);
  }
  const last = performance.now() + patienceMs;
  while (answers.length < sent && performance.now() < last) await new Promise((resolve) => setTimeout(resolve, 10));
  for (const socket of open) socket.destroy();
  return { sent, answers };
}

function opened(port, path, open) {
  const request = `GET ${path} HTTP/1.1\r\nhost: h\r\n\r\n`;
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  open.add(socket);
  socket.on("close", () => open.delete(socket)).on("error", () => {});
  let [since, text, done] = [0, "", (..._given) => {}];
  const connection = {
    socket,
    closes: false,
    ask(due, answered) {
      [since, text, done] = [due, "", answered];
      socket.write(request);
    },
  };
  socket.on("data", (part) => {
    text += part.toString("latin1");
    const head = text.indexOf("\r\n\r\n");
    const length = /content-length: (\d+)/i.exec(text)?.[1];
    if (head === -1 || length === undefined || text.length < head + 4 + Number(length)) return;
    connection.closes = /connection: close/i.test(text);
    done(connection, Number(text.slice(9, 12)), since);
  });
  return connection;
}

/** Random numbers, the same in each run (mulberry32). */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

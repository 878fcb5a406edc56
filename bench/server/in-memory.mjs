/**
 * `node --expose-gc in-memory.mjs <candidate> <case> <milliseconds>`: a server over connections in memory; sends the
 * nanoseconds of a request. Four fifths of what a request costs a real server are the kernel's: without them the part
 * that is Node's and ours is told apart by a fiftieth.
 */
import diagnostics from "node:diagnostics_channel";
import { Duplex } from "node:stream";
import { cases } from "../apps/cases.mjs";
import { median } from "../harness/figures.mjs";
import { candidates } from "./candidates.mjs";
import { answerLength, requestBytes } from "./wire.mjs";

const [, , who, which, ms] = process.argv;
const connections = 64;
// Long enough to have its share of the garbage collector's work.
const timesInLap = 32;

/** A connection whose other end is this program. */
class MemorySocket extends Duplex {
  remoteAddress = "127.0.0.1";
  #length = 0;
  #received = 0;
  #answered = () => {};

  /** Sends one request; calls back when the whole answer is there. */
  ask(bytes, answered) {
    this.#answered = answered;
    this.push(bytes);
  }

  _read() {}

  _write(chunk, _encoding, done) {
    done();
    this.#receive([chunk]);
  }

  _writev(chunks, done) {
    done();
    this.#receive(chunks.map(({ chunk }) => chunk));
  }

  #receive(chunks) {
    if (this.#length === 0) this.#length = answerLength(Buffer.concat(chunks));
    for (const { length } of chunks) this.#received += length;
    if (this.#received < this.#length) return;
    if (this.#received > this.#length) throw new Error(`${who} answered ${which} longer than before`);
    this.#received = 0;
    this.#answered();
  }

  setTimeout() {
    return this;
  }
  setNoDelay() {}
  setKeepAlive() {}
  ref() {}
  unref() {}
}

const port = await candidates[who].start();
const server = await serverAt(port);
const sockets = Array.from({ length: connections }, () => new MemorySocket());
for (const socket of sockets) server.emit("connection", socket);

const bytes = requestBytes(cases[which]);
// One promise for all connections: promises of the load's own would be charged to the server that makes them dear.
const askAll = () =>
  new Promise((resolve) => {
    let left = connections;
    const answered = () => --left === 0 && resolve(undefined);
    for (const socket of sockets) socket.ask(bytes, answered);
  });
await nsPerRequest(Number(ms) / 2);
// What lived through a full collection is old: a request that hangs on it is not given back when it is done, nor is what
// hangs on that one. A server that ran for a while is in that state; one that just started shows better figures.
globalThis.gc?.();
process.send?.(await nsPerRequest(Number(ms)), () => process.exit());

async function nsPerRequest(ms) {
  const figures = [];
  for (const until = performance.now() + ms; performance.now() < until;) {
    const startedAt = performance.now();
    for (let i = 0; i < timesInLap; i++) await askAll();
    figures.push(((performance.now() - startedAt) * 1e6) / (timesInLap * connections));
    await new Promise(setImmediate);
  }
  return median(figures);
}

/** The server that listens on a port of this process: what Node tells of the first request to it. */
function serverAt(port) {
  return new Promise((resolve) => {
    diagnostics.subscribe("http.server.request.start", (message) => resolve(/** @type {any} */ (message).server));
    void fetch(`http://127.0.0.1:${port}/`);
  });
}

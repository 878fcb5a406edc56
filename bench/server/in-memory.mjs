/**
 * `node --expose-gc in-memory.mjs <candidate> <case> <milliseconds>`: a server over connections in memory; sends the
 * nanoseconds of a request. The kernel takes four fifths of a real request; without it a difference of 2 % in the part of
 * Node and the framework is visible.
 */
import diagnostics from "node:diagnostics_channel";
import { Duplex } from "node:stream";
import { cases } from "../apps/cases.mjs";
import { median } from "../harness/figures.mjs";
import { candidates } from "./candidates.mjs";
import { answerLength, requestBytes } from "./wire.mjs";

const [, , who, which, ms] = process.argv;
const connections = 64;
// Long enough to include garbage collection.
const timesInLap = 32;

/** A connection in memory; this program is the client. */
class MemorySocket extends Duplex {
  remoteAddress = "127.0.0.1";
  /** What was received of the first response. */
  #first = [];
  #length = 0;
  #received = 0;
  #answered = () => {};

  /** Sends one request; calls back when the response is complete. */
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
    for (const { length } of chunks) this.#received += length;
    if (this.#length === 0) {
      this.#first.push(...chunks);
      this.#length = answerLength(Buffer.concat(this.#first));
      if (this.#length === 0) return;
      this.#first = [];
    }
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
// One promise for all connections: more would slow the measured process.
const askAll = () =>
  new Promise((resolve) => {
    let left = connections;
    const answered = () => --left === 0 && resolve(undefined);
    for (const socket of sockets) socket.ask(bytes, answered);
  });
await nsPerRequest(Number(ms) / 2);
// After a full collection the survivors are in the old space. A request that they refer to is then not freed by a minor
// collection. A long-running server is in that state; a new one would show better figures.
globalThis.gc?.();
process.send?.(await nsPerRequest(Number(ms)), () => process.exit());

async function nsPerRequest(ms) {
  const figures = [];
  for (const until = performance.now() + ms; performance.now() < until;) {
    // Of the processor: on a machine that does other work, the time that passes is more.
    const before = process.cpuUsage();
    for (let i = 0; i < timesInLap; i++) await askAll();
    const { user, system } = process.cpuUsage(before);
    figures.push(((user + system) * 1e3) / (timesInLap * connections));
    await new Promise(setImmediate);
  }
  return median(figures);
}

/** The server that listens on a port of this process, from Node's diagnostics channel at its first request. */
function serverAt(port) {
  return new Promise((resolve) => {
    diagnostics.subscribe("http.server.request.start", (message) => resolve(/** @type {any} */ (message).server));
    void fetch(`http://127.0.0.1:${port}/`);
  });
}

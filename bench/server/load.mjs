/**
 * The load: each connection sends a request, waits for the whole response, and sends the next. It uses no client library:
 * one costs more CPU than the servers, which would then wait for it. Every response has the same length, by which its end is
 * found. `key` names a header that gets a new UUID in each request; with several `bodies` of one length, each connection
 * sends another. `connections` is their number, 64 unless it is given.
 */
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { answerLength, requestBytes } from "./wire.mjs";

const usualConnections = 64;
// More at once than a server accepts would be refused.
const openedAtOnce = 200;

// The start is unique to this process; the last twelve digits count the requests.
const keyBegin = randomUUID().slice(0, -12);
let keys = 0;

class Client {
  #socket;
  #status;
  #request;
  #keyAt;
  #first = Buffer.alloc(0);
  #length = 0;
  #received = 0;
  #answered = () => {};

  constructor(port, asked) {
    this.#request = requestBytes(withKey(asked));
    this.#keyAt = asked.key === undefined ? undefined : this.#request.indexOf(keyBegin) + keyBegin.length;
    this.#status = Buffer.from(`HTTP/1.1 ${asked.status} `);
    this.#socket = connect({ host: "127.0.0.1", port, noDelay: true });
    this.#socket.on("data", (part) => this.#receive(part));
    this.#socket.on("error", fail);
    this.#socket.on("close", () => fail(new Error("a server closed a connection")));
  }

  /** Sends one request and records the length of its response. */
  first() {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#send();
    });
  }

  /** Sends requests one after another while any are left; appends the time of each in ms to `times`. */
  rest(left, times) {
    return new Promise((resolve) => {
      let sentAt = 0;
      const next = () => {
        if (left.count-- <= 0) return resolve(undefined);
        if (times !== undefined) sentAt = performance.now();
        this.#send();
      };
      this.#answered = () => {
        times?.push(performance.now() - sentAt);
        next();
      };
      next();
    });
  }

  // The buffer of the previous request is free: it was answered.
  #send() {
    if (this.#keyAt !== undefined) this.#request.write(String(++keys).padStart(12, "0"), this.#keyAt, "latin1");
    this.#socket.write(this.#request);
  }

  end() {
    this.#socket.removeAllListeners("close").destroy();
  }

  #receive(part) {
    if (this.#received === 0 && this.#first.length === 0 && !isBegin(part, this.#status))
      fail(new Error(`a server answered ${part.toString("latin1", 0, 200)}`));
    if (this.#length === 0) {
      this.#first = Buffer.concat([this.#first, part]);
      this.#length = answerLength(this.#first);
      if (this.#length === 0) return;
      this.#received = this.#first.length - part.length;
      this.#first = Buffer.alloc(0);
    }
    this.#received += part.length;
    if (this.#received < this.#length) return;
    if (this.#received > this.#length) fail(new Error("an answer was longer than the one before"));
    this.#received = 0;
    this.#answered();
  }
}

function ofConnection({ bodies, ...asked }, at) {
  return bodies === undefined ? asked : { ...asked, body: bodies[at % bodies.length] };
}

function withKey(asked) {
  return asked.key === undefined
    ? asked
    : { ...asked, headers: { ...asked.headers, [asked.key]: `${keyBegin}${"0".repeat(12)}` } };
}

/** Whether one begins with the other: a part may be shorter than a status line. */
function isBegin(part, status) {
  const length = Math.min(part.length, status.length);
  return part.subarray(0, length).equals(status.subarray(0, length));
}

function fail(error) {
  console.error(error);
  process.exit(1);
}

// Waking a sleeping load process is charged to the server that writes to it, and more often to a slow server. So this one
// never sleeps.
function stayAwake(left) {
  if (left.count > 0) setImmediate(stayAwake, left);
}

/** @type {Client[]} */
let clients = [];

process.once("disconnect", () => process.exit());
process.on("message", async (/** @type {any} */ asked) => {
  if (asked === "stop") process.exit();
  if (asked.open !== undefined) {
    const { port, asked: request, connections = usualConnections } = asked.open;
    clients = [];
    while (clients.length < connections) {
      const length = Math.min(openedAtOnce, connections - clients.length);
      const opened = Array.from({ length }, (_, i) => new Client(port, ofConnection(request, clients.length + i)));
      clients.push(...opened);
      await Promise.all(opened.map((client) => client.first()));
    }
    process.send?.({ requests: connections });
  } else if (asked.count !== undefined) {
    const left = { count: asked.count };
    const times = asked.timed ? [] : undefined;
    const startedAt = performance.now();
    if (!asked.sleeps) stayAwake(left);
    await Promise.all(clients.map((client) => client.rest(left, times)));
    process.send?.({ seconds: (performance.now() - startedAt) / 1000, times });
  } else {
    for (const client of clients) client.end();
    process.send?.({});
  }
});

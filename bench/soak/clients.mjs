/** The clients of the soak. The well-behaved ones check what they get; the others leave, stall and lie, and get what they get. */
import { createHash, randomBytes } from "node:crypto";
import { request } from "node:http";
import { connect } from "node:net";
import { WebSocket } from "ws";
import { cases } from "../apps/cases.mjs";

/** @typedef {{ readonly port: number, readonly agent: import("node:http").Agent, isOver: () => boolean, note: (ms: number) => void, fail: (reason: string) => void }} Soak */

const upload = randomBytes(2 ** 18);
const uploadHash = createHash("sha1").update(upload).digest("hex");
/** How long a well-behaved client waits for an answer. */
const patienceMs = 30_000;

/** By name: one turn of a well-behaved client, which throws where it is not answered as it should be. @type {Readonly<Record<string, (soak: Soak) => Promise<void>>>} */
const turns = {
  get: (soak) => asked(soak, cases.inputs, (text) => JSON.parse(text).name === "x"),
  post: (soak) => asked(soak, cases.post, (text) => JSON.parse(text).id === 7),
  invalid: (soak) => asked(soak, { ...cases.post, ...withBody('{"item":"","quantity":0}'), status: 400 }, isProblem),
  missing: (soak) => asked(soak, { ...cases.text, target: "/nowhere", status: 404 }, isProblem),
  file: (soak) => asked(soak, { ...cases.text, target: "/files/page.txt" }, (text) => text.length === 65_536),
  upload: (soak) =>
    asked(
      soak,
      {
        method: "POST",
        target: "/upload",
        headers: { "content-length": String(upload.length) },
        body: upload,
        status: 200,
      },
      (text) => text === uploadHash,
    ),
};

/** One turn of a client that does not behave. @type {Readonly<Record<string, (port: number) => Promise<void>>>} */
const bad = {
  leaves: (port) => raw(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0),
  leavesInBody: (port) => raw(port, "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc", 20),
  stallsInHead: (port) => raw(port, "GET / HTTP/1.1\r\nHost:", 3000),
  stallsInBody: (port) =>
    raw(
      port,
      "POST /orders HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
      3000,
    ),
  doesNotRead: (port) => raw(port, "GET /feed HTTP/1.1\r\nHost: a\r\n\r\n", 3000, { isPaused: true }),
  liesAboutLength: (port) =>
    raw(port, "POST /orders HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 200),
  sendsNoHttp: (port) => raw(port, "\u0000\u0001 no http at all\r\n\r\n", 200),
  leavesFeed: (port) => raw(port, "GET /feed HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n", 300),
  leavesSocket: (port) => raw(port, `${handshake}\u0081`, 300),
};

const handshake =
  "GET /echo HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/** Runs all clients until the soak is over. @param {Soak} soak @param {{ clients: number, pauseMs: number }} options */
export async function runClients(soak, { clients, pauseMs }) {
  const each = Object.entries(turns).flatMap(([name, turn]) => Array.from({ length: clients }, () => [name, turn]));
  await Promise.all([
    ...each.map(([name, turn]) => well(soak, name, turn, pauseMs)),
    ...Object.values(bad).flatMap((turn) => Array.from({ length: clients }, () => ill(soak, turn, pauseMs))),
    ...Array.from({ length: clients }, () => streams(soak)),
    ...Array.from({ length: clients }, () => sockets(soak, pauseMs)),
  ]);
}

async function well(soak, name, turn, pauseMs) {
  while (!soak.isOver()) {
    const startedAt = performance.now();
    try {
      await turn(soak);
      soak.note(performance.now() - startedAt);
    } catch (error) {
      soak.fail(`${name}: ${error.message}`);
    }
    await pause(pauseMs);
  }
}

async function ill({ port, isOver }, turn, pauseMs) {
  while (!isOver()) {
    await turn(port);
    await pause(pauseMs);
  }
}

/** Reads events, and begins again after a few. @param {Soak} soak */
async function streams(soak) {
  while (!soak.isOver()) {
    const text = await raw(
      soak.port,
      "GET /feed HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n",
      patienceMs,
      {
        until: "event: tick",
      },
    );
    if (!/^HTTP\/1.1 200 /.test(text) || !text.includes("event: tick")) soak.fail(`feed: ${text.slice(0, 100)}`);
  }
}

/** Echoes texts over a socket, and leaves without a word after a few. @param {Soak} soak @param {number} pauseMs */
async function sockets(soak, pauseMs) {
  while (!soak.isOver()) {
    const socket = new WebSocket(`ws://127.0.0.1:${soak.port}/echo`);
    try {
      await event(socket, "open");
      for (let i = 0; i < 20 && !soak.isOver(); i++) {
        const startedAt = performance.now();
        const echoed = event(socket, "message");
        socket.send(`text ${i}`);
        const { data } = await echoed;
        if (data !== `text ${i}`) throw new Error(`echoed ${data}`);
        soak.note(performance.now() - startedAt);
        await pause(pauseMs);
      }
    } catch (error) {
      soak.fail(`socket: ${error.message}`);
    }
    socket.close();
  }
}

/** The next event of that name. @returns {Promise<any>} */
function event(socket, name) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no ${name} within ${patienceMs} ms`)), patienceMs);
    const failed = () => reject(new Error(`an error before ${name}`));
    socket.once("error", failed);
    socket.addEventListener(
      name,
      (found) => {
        clearTimeout(timer);
        socket.off("error", failed);
        resolve(found);
      },
      { once: true },
    );
  });
}

function withBody(body) {
  return { body, headers: { "content-type": "application/json", "content-length": String(body.length) } };
}

function isProblem(text) {
  return text.length > 0;
}

/** Sends a request and checks its answer. @returns {Promise<void>} */
function asked({ port, agent }, { method, target, headers, body, status }, isRight) {
  return new Promise((resolve, reject) => {
    const sending = request({ host: "127.0.0.1", port, agent, method, path: target, headers, timeout: patienceMs });
    sending.on("timeout", () => sending.destroy(new Error(`no answer within ${patienceMs} ms`)));
    sending.on("error", reject);
    sending.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => (text += part));
      response.on("error", reject).on("end", () => {
        if (response.statusCode === status && isRight(text)) resolve();
        else reject(new Error(`${method} ${target} was answered with ${response.statusCode} ${text.slice(0, 100)}`));
      });
    });
    sending.end(body);
  });
}

/** Sends a text, reads for a while what arrives, or until a text is in it, and leaves without a word. @returns {Promise<string>} */
function raw(port, text, forMs, { isPaused = false, until = "" } = {}) {
  return new Promise((resolve) => {
    let received = "";
    let timer;
    const socket = connect({ host: "127.0.0.1", port }, () => {
      socket.write(text, "latin1");
      timer = setTimeout(() => socket.destroy(), forMs);
    });
    if (isPaused) socket.pause();
    else {
      socket.on("data", (part) => {
        received += part.toString("latin1");
        if (until !== "" && received.includes(until)) socket.destroy();
      });
    }
    socket
      .on("error", () => {})
      .on("close", () => {
        clearTimeout(timer);
        resolve(received);
      });
  });
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

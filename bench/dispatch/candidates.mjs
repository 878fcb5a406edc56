/** The candidates of the dispatch benchmark: how each prepares a case, is called, and is read. */

/** @typedef {import("../apps/cases.mjs").Case} Case */

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {boolean} hasTable Whether it has the app with a thousand routes.
 * @property {(table: boolean) => Promise<(asked: Case) => { prepare: (count: number) => any[], call: (given: any) => any }>} open
 * @property {(answered: any) => Promise<{ status: number, type: string | null | undefined, text: string }>} read
 */

/** @type {Readonly<Record<string, Candidate>>} */
export const candidates = {
  "by-hand": {
    name: "`Response` by hand",
    hasTable: false,
    open: async () => overFetch((await import("../apps/by-hand.mjs")).fetch),
    read: readResponse,
  },
  "usher-answer": {
    name: "usher, exchange",
    hasTable: true,
    open: (table) => usherAnswer(table, "off"),
    read: readSent,
  },
  "usher-answer-logged": {
    name: "usher, exchange, lines dropped",
    hasTable: true,
    open: (table) => usherAnswer(table, "dropped"),
    read: readSent,
  },
  "usher-fetch": {
    name: "usher, `fetch`",
    hasTable: true,
    open: (table) => usherFetch(table, "off"),
    read: readResponse,
  },
  "usher-fetch-logged": {
    name: "usher, `fetch`, lines dropped",
    hasTable: true,
    open: (table) => usherFetch(table, "dropped"),
    read: readResponse,
  },
  hono: { name: "Hono, `fetch`", hasTable: true, open: (table) => peer("../apps/hono.mjs", table), read: readResponse },
  h3: { name: "h3, `fetch`", hasTable: true, open: (table) => peer("../apps/h3.mjs", table), read: readResponse },
};

async function peer(module, table) {
  const { app, tableApp } = await import(module);
  const made = table ? tableApp(1000) : app();
  return overFetch((request) => made.fetch(request));
}

async function usherFetch(table, lines) {
  const { app, logTo } = await import("../apps/usher.mjs");
  logTo(lines);
  return overFetch(app(table).fetch);
}

function overFetch(fetch) {
  return ({ method, target, headers, body }) => {
    const make = () => new Request(`http://localhost${target}`, { method, headers, body: body ?? null });
    // A body can be read only once; a request without one is reused.
    const kept = body === undefined ? make() : undefined;
    return { prepare: (count) => Array.from({ length: count }, () => kept ?? make()), call: fetch };
  };
}

async function usherAnswer(table, lines) {
  const { app, logTo } = await import("../apps/usher.mjs");
  logTo(lines);
  const { answer } = app(table);
  return (asked) => ({
    prepare: (count) => Array.from({ length: count }, () => new GivenExchange(asked)),
    call: answer,
  });
}

/** The exchange of the Node listener, without Node's own work. */
export class GivenExchange {
  method;
  target;
  peer = "127.0.0.1";
  #headers;
  #body;

  constructor({ method, target, headers, body }) {
    this.method = method;
    this.target = target;
    this.#headers = headers;
    this.#body = body;
  }

  get body() {
    return this.#body === undefined ? undefined : new GivenBody(Buffer.from(this.#body));
  }

  get gone() {
    return new AbortController().signal;
  }

  lines(name) {
    const value = this.#headers[name];
    return value === undefined ? [] : [value];
  }

  headers() {
    return Object.entries(this.#headers);
  }

  byteLength(text) {
    return Buffer.byteLength(text);
  }

  decode(bytes) {
    return bytes.toString();
  }
}

class GivenBody {
  length;
  #bytes;

  constructor(bytes) {
    this.length = bytes.length;
    this.#bytes = bytes;
  }

  whole(_limit, receiver) {
    queueMicrotask(() => {
      receiver.take(this.#bytes.length);
      receiver.done(this.#bytes);
    });
  }
}

async function readResponse(response) {
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

async function readSent({ status, head, body }) {
  return { status, type: head[head.indexOf("content-type") + 1], text: body ?? "" };
}

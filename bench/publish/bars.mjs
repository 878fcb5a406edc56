/**
 * The bars: what we require of ourselves, each by the series that shows it. A publication has a table of them. For a missed bar the
 * table gives its reason from `reasons`.
 *
 * @typedef {object} Bar
 * @property {string} id A publication keeps it; its reason is found by it, also after the run.
 * @property {string} what
 * @property {string} part
 * @property {string} series The title of a series of that part.
 * @property {string} row
 * @property {string} to The row that it is compared with, in the same round.
 * @property {"ratio" | "more"} by Its ratio to that row, or the difference.
 * @property {string} [group] Without it, each group of the series.
 * @property {number} [max]
 * @property {number} [min]
 * @property {string} [unit] Of a difference.
 */

const hono = "Hono, node-server";
const ratio = /** @type {const} */ ("ratio");
const more = /** @type {const} */ ("more");
const onNode = { part: "server", series: "CPU of a request, on Node", by: ratio };
const onBun = { part: "runtimes", series: "CPU of a request, on Bun", by: ratio };
const onDeno = { part: "runtimes", series: "CPU of a request, on Deno", by: ratio };
const start = { part: "start", group: "" };
const mounts = { part: "mounts", by: ratio, group: "" };
const passedOn = { ...mounts, series: "CPU of an answer that is passed on", to: "`node:http` piped by hand", max: 1.2 };
const orders = { part: "orders", by: ratio, row: "usher, the example", to: "Fastify, postgres" };

/** @type {readonly Bar[]} */
export const listed = [
  { id: "node", what: "CPU on Node, to by hand", ...onNode, row: "usher", to: "node:http by hand", max: 1.1 },
  {
    id: "node-line",
    what: "CPU on Node with the access line, to by hand",
    ...onNode,
    row: "usher, access line",
    to: "node:http by hand",
    max: 1.3,
  },
  {
    id: "bun-get",
    what: "CPU on Bun, to Elysia with request ids",
    ...onBun,
    group: "GET /",
    row: "usher",
    to: "Elysia, request ids",
    max: 1,
  },
  {
    id: "bun-inputs",
    what: "CPU on Bun, to Elysia with request ids",
    ...onBun,
    group: "GET /id/7?name=x",
    row: "usher",
    to: "Elysia, request ids",
    max: 1,
  },
  {
    id: "bun-body",
    what: "CPU of a body on Bun, to by hand with request ids",
    ...onBun,
    group: "POST /orders",
    row: "usher",
    to: "Bun.serve by hand, request ids",
    max: 1.2,
  },
  {
    id: "bun-hono",
    what: "CPU on Bun, to Hono with request ids",
    ...onBun,
    row: "usher",
    to: "Hono, request ids",
    max: 1,
  },
  {
    id: "deno-body",
    what: "CPU of a body on Deno, to by hand with request ids",
    ...onDeno,
    group: "POST /orders",
    row: "usher",
    to: "Deno.serve by hand, request ids",
    max: 1.5,
  },
  {
    id: "deno-hono",
    what: "CPU on Deno, to Hono with request ids",
    ...onDeno,
    row: "usher",
    to: "Hono, request ids",
    max: 1,
  },
  {
    id: "http2",
    what: "CPU over HTTP/2, to by hand",
    part: "http2",
    series: "CPU of a request over HTTP/2",
    by: ratio,
    row: "usher, http2: true",
    to: "node:http2 by hand",
    max: 1.1,
  },
  {
    id: "start-time",
    what: "from start to the first answer, to Hono",
    ...start,
    series: "From start to the first answer",
    by: ratio,
    row: "usher",
    to: hono,
    max: 1.15,
  },
  {
    id: "start-memory",
    what: "memory after the first answer, to Hono",
    ...start,
    series: "Memory after the first answer",
    by: ratio,
    row: "usher",
    to: hono,
    max: 1.15,
  },
  {
    id: "start-table",
    what: "CPU until the first answer for 1,000 routes more",
    ...start,
    series: "CPU until the first answer",
    by: more,
    row: "usher, 1,000 routes more",
    to: "usher",
    max: 60,
    unit: "ms",
  },
  {
    id: "start-lambda",
    what: "CPU until the first answer on Lambda, more than Hono",
    ...start,
    series: "CPU until the first answer",
    by: more,
    row: "usher, app.fetch as on Lambda",
    to: "Hono, app.fetch as on Lambda",
    max: 10,
    unit: "ms",
  },
  {
    id: "start-lambda-bundled",
    what: "the same, bundled",
    ...start,
    series: "CPU until the first answer",
    by: more,
    row: "usher, the same in one file",
    to: "Hono, the same in one file",
    max: 10,
    unit: "ms",
  },
  {
    id: "start-worker",
    what: "CPU until the first answer of a Worker in workerd, more than Hono",
    ...start,
    series: "CPU of a Worker until its first answer",
    by: more,
    row: "usher",
    to: "Hono",
    max: 10,
    unit: "ms",
  },
  {
    ...mounts,
    id: "mount",
    what: "CPU of a mounted handler, to srvx",
    series: "CPU of a mounted handler",
    row: "usher, `Route.mount`",
    to: "srvx",
    max: 1.15,
  },
  {
    ...passedOn,
    id: "pass",
    what: "CPU of an answer that is passed on, to by hand",
    row: "usher, `Answer.pass(await fetch(…))`",
  },
  {
    ...passedOn,
    id: "pass-fetch",
    what: "the same, to a server by hand that uses fetch, too",
    row: "usher, `Answer.pass(await fetch(…))`",
    to: "`fetch` and `node:http` by hand",
    max: 1.1,
  },
  {
    ...passedOn,
    id: "pass-undici",
    what: "CPU of an answer that is passed on, by `request` of `undici`, to by hand",
    row: "usher, `Answer.pass` of `request` of `undici`",
  },
  { ...passedOn, id: "pass-mount", what: "CPU of a mount as proxy, to by hand", row: "usher, a mount as proxy" },
  ...["GET /orders/{order_id}", "POST /orders"].flatMap((group) => [
    {
      ...orders,
      id: `orders ${group}, CPU`,
      what: "CPU of the orders example, to Fastify",
      group,
      series: "CPU of a request, the orders example",
      max: 1,
    },
    {
      ...orders,
      id: `orders ${group}, rate`,
      what: "requests a second of the orders example, to Fastify",
      group,
      series: "Requests a second, the orders example",
      min: 1,
    },
  ]),
];

/** Why a bar is missed, and what was tried. @type {Readonly<Record<string, string>>} */
export const reasons = {
  "node-line":
    "The server by hand takes 1.18 to 1.30 with a line, too. On Node 20 the hooks of `AsyncLocalStorage` add 0.9 µs.",
  "bun-get": "Bun matches Elysia's route, and no code reads the URL. Usher reads it to check the host.",
  "bun-inputs": "As above: Bun matches Elysia's route, and Usher also checks the host.",
  "bun-body":
    "Reading the body takes the most time. Reading bytes takes 7 % longer than reading a text, but a text does not show whether the bytes were UTF-8. The headers come next: the cross-origin check and the limit read them. Removed already: two closures for each wait, two promises for a late answer, the set of requests that hold a body.",
  "deno-body":
    "A Response is prepared for the wire when it is constructed, and again when a header is added; the headers are listed once for all reads.",
  "deno-hono":
    "Only the body is not below Hono, and by less than its rounds differ. Hono takes a text in which bytes that are not UTF-8 are replaced; Usher refuses them, checks the host and the site that sent it, and keeps the limit.",
  "start-time": "Nearly all of the difference is V8 parsing the package, whose core has 600 kB.",
  "start-lambda": "Nearly all of the difference is V8 parsing the package, whose core has 600 kB.",
  "start-lambda-bundled":
    "Nearly all of the difference is V8 parsing the package, of which 300 kB are in the bundle, before minifying.",
  "start-worker":
    "Nearly all of the difference is V8 parsing the package, of which 300 kB are in the bundle, before minifying.",
  mount:
    "A handler gets a real `Request`. `node:http` by hand with a real `Request` and `Response` takes 1.13 of `srvx` already. `srvx` has an object that makes one when it is needed, but `fetch` and `new Request` read private members, which no such object has. Tried without a difference: one pass over the headers of the response, fewer look-ups in those of the request.",
  pass: "A server by hand that uses `fetch` takes 1.55 of the pipe. Node exports no more of undici than `fetch`: `Answer.pass` takes what `request` of that package resolves with, too, and has a bar of its own.",
  "pass-mount":
    "As for `Answer.pass`, and the handler makes a second `Request` for `fetch`, which undici copies: its headers, its signal.",
  "orders GET /orders/{order_id}, CPU":
    "`postgres` pipelines every statement, so that a slow one delays those behind it. The pool sends at most four reads together that have been quick: more together cost more.",
  "orders GET /orders/{order_id}, rate": "As for its CPU: fewer statements share a write to PostgreSQL.",
};

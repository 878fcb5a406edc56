/** The requests. Every candidate must give the same answers, which is checked before anything is timed. */
import { placed, sent } from "./order.mjs";

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {string} method
 * @property {string} target
 * @property {Readonly<Record<string, string>>} headers
 * @property {string | undefined} body
 * @property {number} status
 * @property {string | undefined} type Undefined if it differs by candidate.
 * @property {unknown} answer The body: text, or the parsed JSON.
 */

const none = {};
const body = JSON.stringify(sent);
const json = "application/json";
const jsonHeaders = { "content-type": json, "content-length": String(Buffer.byteLength(body)) };
const order = JSON.parse(JSON.stringify(placed(7, sent)));

/** @type {Readonly<Record<string, Case>>} */
export const cases = {
  text: {
    name: "GET /",
    method: "GET",
    target: "/",
    headers: none,
    body: undefined,
    status: 200,
    type: "text/plain",
    answer: "Hello.",
  },
  inputs: {
    name: "GET /id/7?name=x",
    method: "GET",
    target: "/id/7?name=x",
    headers: { "x-tenant": "north" },
    body: undefined,
    status: 200,
    type: json,
    answer: { id: 7, name: "x", tenant: "north" },
  },
  get: {
    name: "GET /orders/7",
    method: "GET",
    target: "/orders/7",
    headers: none,
    body: undefined,
    status: 200,
    type: json,
    answer: order,
  },
  post: {
    name: "POST /orders",
    method: "POST",
    target: "/orders",
    headers: jsonHeaders,
    body,
    status: 201,
    type: json,
    answer: order,
  },
};

/** For the routes of `rest-routes.mjs`. @type {Readonly<Record<string, Case>>} */
export const tableCases = {
  static: get("static hit", "/r57/me", 200, "text/plain", "me"),
  parameter: get("one-parameter hit", "/r57/1234", 200, "text/plain", "1234"),
  miss: get("miss", "/r57/1234/parts/9", 404, undefined, undefined),
};

/** @returns {Case} */
function get(name, target, status, type, answer) {
  return { name, method: "GET", target, headers: none, body: undefined, status, type, answer };
}

/**
 * Throws, naming the candidate, if an answer is wrong.
 *
 * @param {string} who @param {Case} asked
 * @param {{ status: number, type: string | null | undefined, text: string }} got
 */
export function checkAnswer(who, asked, { status, type, text }) {
  const wrong = (what, value) => new Error(`${who} answered ${asked.name} with ${what} ${JSON.stringify(value)}`);
  if (status !== asked.status) throw wrong("status", status);
  if (asked.type === undefined) return;
  if (type?.split(";")[0] !== asked.type) throw wrong("content-type", type);
  const value = asked.type === json ? JSON.parse(text) : text;
  if (JSON.stringify(value) !== JSON.stringify(asked.answer)) throw wrong("body", text);
}

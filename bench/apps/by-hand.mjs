/** Hand-written servers: the baseline without a framework. */
import { randomUUID } from "node:crypto";
import { placed, sent } from "./order.mjs";

const mostBytes = 1_048_576;
const text = "text/plain; charset=utf-8";
const json = "application/json";

/** An answer, as `[status, type, body]`. */
const notFound = [404, text, "Not found."];
const invalid = [400, text, "Not valid."];

/** Routing and checks by hand; `order` is the parsed JSON body. */
function answer(method, target, header, order) {
  const question = target.indexOf("?");
  const path = question === -1 ? target : target.slice(0, question);
  if (method === "GET" && path === "/") return [200, text, "Hello."];
  if (method === "GET" && path.startsWith("/id/")) {
    const id = wholeNumber(path.slice(4));
    const name = new URLSearchParams(target.slice(path.length)).get("name");
    const tenant = header("x-tenant");
    return id === undefined || name === null || typeof tenant !== "string"
      ? invalid
      : [200, json, JSON.stringify({ id, name, tenant })];
  }
  if (method === "GET" && path.startsWith("/orders/")) {
    const id = wholeNumber(path.slice(8));
    return id === undefined ? invalid : [200, json, JSON.stringify(placed(id, sent))];
  }
  if (method === "POST" && path === "/orders")
    return isOrder(order) ? [201, json, JSON.stringify(placed(7, order))] : invalid;
  return notFound;
}

function wholeNumber(text) {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function isOrder(order) {
  if (typeof order !== "object" || order === null) return false;
  const { item, quantity } = order;
  return (
    typeof item === "string" && item.length > 0 && item.length <= 100 && Number.isInteger(quantity) && quantity >= 1
  );
}

function parsed(body) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Over the standard pair. @param {Request} request @returns {Response | Promise<Response>} */
export function fetch(request) {
  return answerTo(request, (type) => ({ "content-type": type }));
}

/** The same with an id in each response, like usher. @param {Request} request @returns {Response | Promise<Response>} */
export function fetchWithIds(request) {
  return answerTo(request, (type) => ({ "content-type": type, "x-request-id": crypto.randomUUID() }));
}

function answerTo(request, headersOf) {
  const { method, url } = request;
  const target = url.slice(url.indexOf("/", 8));
  const header = (name) => request.headers.get(name);
  const respond = ([status, type, body]) => new Response(body, { status, headers: headersOf(type) });
  if (method !== "POST") return respond(answer(method, target, header, undefined));
  return request.text().then((body) => respond(answer(method, target, header, parsed(body))));
}

/** @typedef {(request: import("node:http").IncomingMessage, status: number, bytes: number, startedAt: number) => void} LogLine */

/**
 * Over `node:http`.
 *
 * @param {LogLine | undefined} logLine
 * @returns {import("node:http").RequestListener}
 */
export function listener(logLine) {
  return (request, response) => {
    const startedAt = logLine === undefined ? 0 : performance.now();
    const header = (name) => request.headers[name];
    const respond = ([status, type, body]) => {
      const bytes = Buffer.byteLength(body);
      logLine?.(request, status, bytes, startedAt);
      response.writeHead(status, ["content-type", type, "content-length", String(bytes)]);
      response.end(body);
    };
    if (request.method !== "POST") return respond(answer(request.method, request.url, header, undefined));
    whole(request, (body) => respond(answer(request.method, request.url, header, parsed(body.toString()))));
  };
}

/** Over a stream of `node:http2`, with an id in each response. @type {(stream: any, headers: any) => void} */
export function onStream(stream, headers) {
  const header = (name) => headers[name];
  const { ":method": method, ":path": target } = headers;
  const respond = ([status, type, body]) => {
    stream.respond({
      ":status": status,
      "content-type": type,
      "content-length": String(Buffer.byteLength(body)),
      "x-request-id": randomUUID(),
    });
    stream.end(body);
  };
  // Node ends the process where a stream has an error that nothing listens to.
  stream.on("error", () => {});
  if (method !== "POST") return respond(answer(method, target, header, undefined));
  whole(stream, (body) => respond(answer(method, target, header, parsed(body.toString()))));
}

/** Reads a body within its limit. */
function whole(readable, then) {
  const parts = [];
  let length = 0;
  readable.on("data", (part) => {
    length += part.length;
    if (length > mostBytes) readable.destroy();
    else parts.push(part);
  });
  readable.on("end", () => then(parts.length === 1 ? parts[0] : Buffer.concat(parts)));
}

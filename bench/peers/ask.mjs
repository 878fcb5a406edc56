/** One raw HTTP/1.1 request on a connection of its own, so that no client library changes it. */
import { connect } from "node:net";

/**
 * @typedef {object} Asked
 * @property {string} method
 * @property {string} target
 * @property {Readonly<Record<string, string>>} [headers]
 * @property {string} [body] JSON, unless the headers have another type.
 */

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {ReadonlyMap<string, string>} headers
 * @property {string} body
 */

/** @param {number} port @param {Asked} asked @returns {Promise<Answer>} */
export async function ask(port, { method, target, headers, body = "" }) {
  const framing = body === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const all = { host: `localhost:${port}`, connection: "close", ...framing, ...headers };
  const head = [`${method} ${target} HTTP/1.1`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`)];
  const socket = connect(port, "127.0.0.1");
  socket.setTimeout(10_000, () => socket.destroy(new Error(`${method} ${target} has no answer after 10 s`)));
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  let text = "";
  for await (const part of socket.setEncoding("utf8")) text += part;
  return read(text);
}

/** @param {string} text @returns {Answer} */
function read(text) {
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Map(
    lines.map((line) => /** @type {const} */ ([nameOf(line), line.slice(nameOf(line).length + 1).trim()])),
  );
  const sent = text.slice(end + 4);
  const body = headers.get("transfer-encoding") === "chunked" ? unchunked(sent) : sent;
  return { status: Number(first.split(" ")[1]), headers, body };
}

/** @param {string} line */
function nameOf(line) {
  return (line.split(":", 1)[0] ?? "").toLowerCase();
}

/** The sizes are not needed: no answer here has a line end. @param {string} sent */
function unchunked(sent) {
  return sent
    .split("\r\n")
    .filter((_, i) => i % 2 === 1)
    .join("");
}

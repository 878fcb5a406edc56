/** The bytes of requests and responses. */

/** @param {import("../apps/cases.mjs").Case} asked */
export function requestBytes({ method, target, headers, body = "" }) {
  const lines = Object.entries({ host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
}

/** The length of a response, from its head. Throws if its `Content-Length` is less than what came, or missing where it has a body. */
export function answerLength(answer) {
  const text = answer.toString("latin1");
  const end = text.indexOf("\r\n\r\n") + 4;
  if (/^HTTP\/1.1 (204|304) /.test(text) && text.length === end) return end;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, end));
  if (length === null || text.length > end + Number(length[1])) throw new Error(`no answer of a known length: ${text}`);
  return end + Number(length[1]);
}

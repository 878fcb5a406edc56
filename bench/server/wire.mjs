/** The bytes of requests and responses. */

/** @param {import("../apps/cases.mjs").Case} asked */
export function requestBytes({ method, target, headers, body = "" }) {
  const lines = Object.entries({ host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
}

/**
 * The length of a response, by its `Content-Length` or at its last chunk; 0 where more must be received to know it. Throws if
 * `Content-Length` is less than what was received.
 */
export function answerLength(answer) {
  const text = answer.toString("latin1");
  const end = text.indexOf("\r\n\r\n") + 4;
  if (end === 3) return 0;
  const head = text.slice(0, end);
  if (/^HTTP\/1.1 (204|304) /.test(head) && text.length === end) return end;
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(head)) return text.endsWith("\r\n0\r\n\r\n") ? text.length : 0;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head);
  if (length === null || text.length > end + Number(length[1])) throw new Error(`no answer of a known length: ${text}`);
  return end + Number(length[1]);
}

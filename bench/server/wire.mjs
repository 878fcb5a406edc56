/** Requests and answers as they are on the wire. */

/** @param {import("../apps/cases.mjs").Case} asked */
export function requestBytes({ method, target, headers, body = "" }) {
  const lines = Object.entries({ host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
}

/** The length of an answer, head and body, from all of its bytes; throws where it says no length, or another. */
export function answerLength(answer) {
  const text = answer.toString("latin1");
  const end = text.indexOf("\r\n\r\n") + 4;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, end));
  if (length === null || text.length !== end + Number(length[1]))
    throw new Error(`no answer of a known length: ${text}`);
  return text.length;
}

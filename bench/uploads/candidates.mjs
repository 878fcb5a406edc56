/** The servers that answer an upload at `/upload` with its SHA-1: `start` resolves with the port. */
import { createHash } from "node:crypto";
import { createServer } from "node:http";

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {boolean} multipart
 * @property {string} [against] The candidate that it is compared with.
 * @property {() => Promise<number>} start
 */

/** @type {Readonly<Record<string, Candidate>>} */
export const candidates = {
  raw: { name: "`node:http` by hand", multipart: false, start: () => byHand(hashBody) },
  stream: { name: "usher, `bodyStream`", multipart: false, against: "raw", start: () => usher("stream") },
  busboy: { name: "`node:http` and busboy", multipart: true, start: () => byHand(hashFile) },
  multipart: { name: "usher, `multipart`", multipart: true, against: "busboy", start: () => usher("multipart") },
};

function byHand(handler) {
  const server = createServer(handler);
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
}

function hashBody(request, response) {
  const hash = createHash("sha1");
  request.on("data", (part) => hash.update(part));
  request.on("end", () => response.end(hash.digest("hex")));
}

async function hashFile(request, response) {
  const { default: busboy } = await import("busboy");
  const hash = createHash("sha1");
  const form = busboy({ headers: request.headers, limits: { fileSize: Number.POSITIVE_INFINITY } });
  form.on("file", (_name, file) => file.on("data", (part) => hash.update(part)));
  form.on("close", () => response.end(hash.digest("hex")));
  request.pipe(form);
}

async function usher(how) {
  const { Log, Path, Returns, bodyStream, multipart, post } = await import("usher-http");
  const { serve } = await import("usher-http/node");
  Log.setup({ level: undefined });
  const max = 2 ** 31;
  const path = Path.of("upload");
  const streamed = post(path, { inputs: { body: bodyStream({ max }) }, returns: Returns.text }, async ({ body }) => {
    const hash = createHash("sha1");
    for await (const part of body) hash.update(part);
    return hash.digest("hex");
  });
  const parted = post(path, { inputs: { parts: multipart({ max }) }, returns: Returns.text }, async ({ parts }) => {
    const hash = createHash("sha1");
    for await (const part of parts) for await (const piece of part) hash.update(piece);
    return hash.digest("hex");
  });
  return (await serve([how === "stream" ? streamed : parted], { host: "127.0.0.1", port: 0 })).port;
}

import { createHash } from "node:crypto";
import { request } from "node:http";

const boundary = "----0123456789abcdef";
// All byte values, with line ends, which the search for a boundary must skip.
const piece = Buffer.alloc(1 << 16);
for (let i = 0, state = 1; i < piece.length; i++) {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  piece[i] = state >>> 16;
}

/** Sends a body of that many bytes and checks the answer against its hash. */
export function send(port, { bytes, multipart }) {
  const head = multipart
    ? `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`
    : "";
  const tail = multipart ? `\r\n--${boundary}--\r\n` : "";
  const headers = {
    "content-type": multipart ? `multipart/form-data; boundary=${boundary}` : "application/octet-stream",
    "content-length": head.length + bytes + tail.length,
  };
  const { promise, resolve, reject } = settled();
  const hash = hashOf(bytes);
  const sending = request({ host: "127.0.0.1", port, method: "POST", path: "/upload", headers }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part) => (text += part));
    response.on("end", () =>
      text === hash ? resolve() : reject(new Error(`answered ${response.statusCode} ${text}`)),
    );
  });
  sending.on("error", reject);
  sending.write(head);
  let left = bytes;
  const more = () => {
    for (let room = true; room && left > 0; left -= piece.length) room = sending.write(pieceOf(left));
    if (left > 0) sending.once("drain", more);
    else sending.end(tail);
  };
  more();
  return promise;
}

/** The next piece of a body. @param {number} left How many bytes of it are left. */
function pieceOf(left) {
  return left < piece.length ? piece.subarray(0, left) : piece;
}

const hashes = new Map();

function hashOf(bytes) {
  if (!hashes.has(bytes)) {
    const hash = createHash("sha1");
    for (let left = bytes; left > 0; left -= piece.length) hash.update(pieceOf(left));
    hashes.set(bytes, hash.digest("hex"));
  }
  return hashes.get(bytes);
}

function settled() {
  let resolve, reject;
  const promise = new Promise((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

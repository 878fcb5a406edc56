/** Handlers that wait for a case, or for their client to disconnect, and record what they observed (rows WR, SV, BS). */
import { Answer, Path, Returns, body, bodyStream, clientGone, get, param, post } from "usher-http";
import type { Route } from "usher-http";
import { aWhile, note, passed } from "./state.ts";

const key = Path.str("key");
const framing = Path.str("framing");
const keyed = { key: param(key) };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export const waiting: readonly Route[] = [
  get(Path.of("wait", key), { inputs: keyed, returns: Returns.text }, async ({ key }) => {
    note(`${key} asked`, "yes");
    await passed(key);
    return `waited for ${key}`;
  }),
  get(Path.of("never", key), { inputs: keyed, returns: Returns.text }, ({ key }) => {
    note(`${key} asked`, "yes");
    return new Promise<string>(() => {});
  }),
  get(
    Path.of("gone", "wait", key),
    { inputs: { ...keyed, clientGone }, returns: Returns.text },
    async ({ key, clientGone }) => {
      note(`${key} asked`, clientGone.aborted ? "gone" : "there");
      await passed(key, clientGone);
      note(`${key} ended`, clientGone.aborted ? "gone" : "there");
      return `waited for ${key}`;
    },
  ),
  // A signal that is read long after its answer was sent.
  get(
    Path.of("gone", "after", key),
    { inputs: { ...keyed, clientGone }, returns: Returns.text },
    ({ key, clientGone }) => {
      void passed(key).then(() => note(`${key} ended`, clientGone.aborted ? "gone" : "there"));
      return "answered";
    },
  ),
  // Two chunks with a gate between them.
  get(Path.of("stream", "wait", key), { inputs: keyed, returns: Returns.response }, ({ key }) => {
    async function* parts(): AsyncGenerator<Uint8Array> {
      yield bytes("one ");
      await passed(key);
      yield bytes("two");
    }
    return Answer.stream(parts(), { contentType: "text/plain" });
  }),
  // A head, and its first chunk when the gate opens.
  get(Path.of("stream", "head", key), { inputs: keyed, returns: Returns.response }, ({ key }) => {
    async function* parts(): AsyncGenerator<Uint8Array> {
      await passed(key);
      yield bytes("late");
    }
    return Answer.stream(parts(), { contentType: "text/plain" });
  }),
  // Quiet after its first chunk, until its client disconnects.
  get(
    Path.of("stream", "quiet", key),
    { inputs: { ...keyed, clientGone }, returns: Returns.response },
    ({ key, clientGone }) => {
      async function* parts(): AsyncGenerator<Uint8Array> {
        try {
          yield bytes("one ");
          await passed(key, clientGone);
          yield bytes("two");
        } finally {
          note(`${key} ended`, clientGone.aborted ? "gone" : "there");
        }
      }
      return Answer.stream(parts(), { contentType: "text/plain" });
    },
  ),
  // Continues for as long as the client reads.
  get(Path.of("stream", "endless", key), { inputs: keyed, returns: Returns.response }, ({ key }) => {
    async function* parts(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          yield bytes("x".repeat(65_536));
          await aWhile();
        }
      } finally {
        note(`${key} ended`, "yes");
      }
    }
    return Answer.stream(parts());
  }),
  // As fast as its client reads, without waiting for anything else.
  get(Path.of("stream", "flood", key), { inputs: keyed, returns: Returns.response }, ({ key }) => {
    async function* parts(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield bytes("part ");
      } finally {
        note(`${key} ended`, "yes");
      }
    }
    return Answer.stream(parts());
  }),
  // Takes a quarter of a second or more, with Content-Length if the case says so.
  get(
    Path.of("stream", "download", framing, key),
    { inputs: { ...keyed, framing: param(framing) }, returns: Returns.response },
    ({ framing }) => {
      async function* parts(): AsyncGenerator<Uint8Array> {
        for (let i = 0; i < 50; i++) {
          yield bytes("part ");
          await aWhile();
        }
      }
      return Answer.stream(parts(), { contentType: "text/plain", ...(framing === "length" ? { length: 250 } : {}) });
    },
  ),
  // Holds a body until the gate opens.
  post(Path.of("held", key), { inputs: { ...keyed, body }, returns: Returns.text }, async ({ key, body }) => {
    note(`${key} asked`, "yes");
    await passed(key);
    return `${body.byteLength} bytes`;
  }),
  // What a handler reads of a body, chunk by chunk, and of its end.
  post(
    Path.of("reading", key),
    { inputs: { ...keyed, upload: bodyStream({ max: 1_000_000 }) }, returns: Returns.text },
    async ({ key, upload }) => {
      let seen = "";
      for (let part = 0; ; part++) {
        const read = await upload.read();
        if (!read.ok) {
          note(`${key} ended`, read.error.kind);
          return "broken";
        }
        if (read.value === undefined) break;
        seen += new TextDecoder().decode(read.value);
        note(`${key} read`, seen);
      }
      note(`${key} ended`, "whole");
      return seen;
    },
  ),
];

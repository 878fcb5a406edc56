/** Protocols after HTTP (rows AN-27 to AN-31). */
import { Answer, Path, Returns, addHeader, get, param, route } from "usher-http";
import type { Route, TakenConnection } from "usher-http";
import { note } from "./state.ts";

const key = Path.str("key");

/** Sends bytes back until its client ends its side or the server stops, and then says goodbye. */
async function echo({ readable, writable, stopping }: TakenConnection, key: string): Promise<void> {
  const reader = readable.getReader();
  const writer = writable.getWriter();
  note(`${key} taken`, "yes");
  stopping.addEventListener("abort", () => void writer.write(bytes("stopping")).then(() => reader.cancel()));
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) await writer.write(read.value);
    await writer.write(bytes("bye"));
    note(`${key} ended`, "whole");
  } catch {
    note(`${key} ended`, "broken");
    throw new Error("a secret");
  }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function flood({ writable }: TakenConnection, key: string): Promise<void> {
  const writer = writable.getWriter();
  try {
    for (;;) await writer.write(bytes("x".repeat(65_536)));
  } finally {
    note(`${key} ended`, "broken");
  }
}

export const takeovers: readonly Route[] = [
  get(
    Path.of("taken", key),
    { inputs: { key: param(key), addHeader }, returns: Returns.response },
    ({ key, addHeader }) => {
      addHeader("x-mine", "a");
      return Answer.takeover("echo", (connection) => echo(connection, key));
    },
  ),
  route("POST", Path.of("taken", key), { inputs: { key: param(key) }, returns: Returns.response }, ({ key }) =>
    Answer.takeover("echo", (connection) => echo(connection, key)),
  ),
  get(Path.of("taken", key, "raises"), { returns: Returns.response }, () =>
    Answer.takeover("echo", async () => {
      throw new Error("a secret");
    }),
  ),
  get(Path.of("taken", key, "floods"), { inputs: { key: param(key) }, returns: Returns.response }, ({ key }) =>
    Answer.takeover("echo", (connection) => flood(connection, key)),
  ),
  // Is not notified of the stop of the server.
  get(Path.of("taken", key, "deaf"), { inputs: { key: param(key) }, returns: Returns.response }, ({ key }) =>
    Answer.takeover("echo", async ({ readable }) => {
      note(`${key} taken`, "yes");
      for await (const part of readable as AsyncIterable<Uint8Array>) void part;
    }),
  ),
];

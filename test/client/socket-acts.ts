/** WebSockets of the typed client on the runtime that runs this file, by the platform's own class. */
import * as Client from "usher-http/client";
import type { SocketRoutes } from "./socket-routes.ts";

/** What they observe on each runtime. */
export const seen: readonly unknown[] = [
  { text: "a b", at: "2026-09-30T00:00:00.000Z" },
  { text: "HELLO" },
  { code: 1000, reason: "" },
  "v2",
  true,
  true,
  "1",
  "bye",
  1000,
  false,
  [2, 1],
  ["unreachable", 0],
];

/** Gives what it observed. */
export async function spoken(baseUrl: string): Promise<readonly unknown[]> {
  const api = Client.of<SocketRoutes>({ baseUrl });
  const observed: unknown[] = [];

  const room = await api["GET /rooms/{room}"].open({ path: { room: "a b" } });
  if (!room.ok) throw new Error(room.message);
  room.value.send({ text: "hello" });
  for await (const line of room.value) {
    observed.push(line);
    if (line.text === "HELLO") break;
  }
  observed.push(await room.value.closed);

  const words = await api["GET /words"].open({ text: "both", subprotocol: "v2" });
  if (!words.ok) throw new Error(words.message);
  observed.push(words.value.subprotocol, words.value.send("1"), words.value.send("bye"));
  for await (const word of words.value) observed.push(word);
  observed.push((await words.value.closed).code, words.value.send("late"));

  const bytes = await api["GET /bytes"].open();
  if (!bytes.ok) throw new Error(bytes.message);
  bytes.value.send(new Uint8Array([1, 2]));
  for await (const one of bytes.value) {
    observed.push([...one]);
    break;
  }

  const refused = await api["GET /refused"].open();
  observed.push(refused.ok ? "opened" : [refused.error, refused.status]);
  return observed;
}

/** A WebSocket of the typed client on the runtime that runs this file, by the platform's own class. It writes what it observed. */
import * as Client from "usher-http/client";
import type { SocketRoutes } from "./socket-routes.ts";

const [baseUrl = ""] = process.argv.slice(2);
const api = Client.of<SocketRoutes>({ baseUrl });
const seen: unknown[] = [];

const room = await api["GET /rooms/{room}"].open({ path: { room: "a b" } });
if (!room.ok) throw new Error(room.message);
room.value.send({ text: "hello" });
for await (const line of room.value) {
  seen.push(line);
  if (line.text === "HELLO") break;
}
seen.push(await room.value.closed);

const words = await api["GET /words"].open({ text: "both", subprotocol: "v2" });
if (!words.ok) throw new Error(words.message);
seen.push(words.value.subprotocol, words.value.send("1"), words.value.send("bye"));
for await (const word of words.value) seen.push(word);
seen.push((await words.value.closed).code, words.value.send("late"));

const bytes = await api["GET /bytes"].open();
if (!bytes.ok) throw new Error(bytes.message);
bytes.value.send(new Uint8Array([1, 2]));
for await (const one of bytes.value) {
  seen.push([...one]);
  break;
}

const refused = await api["GET /refused"].open();
seen.push(refused.ok ? "opened" : [refused.error, refused.status]);
console.log(JSON.stringify(seen));

/** Run by Deno: opens a WebSocket once a file is there, and does nothing else until then. */
import { existsSync } from "node:fs";
import { serve } from "../../../adapters/deno/index.ts";
import { Codec, Path, Query, Returns, Socket, get } from "../../../src/index.ts";

const inputs = { file: Query.required("file", Codec.string), later: Query.default("later", Codec.bool, false) };
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const socket = get(Path.of("socket"), { inputs, returns: Returns.websocket(texts) }, ({ file, later }) => {
  const echoes = async (socket: Socket<string, string>): Promise<void> => {
    for await (const text of socket) await socket.send(text);
  };
  console.log(JSON.stringify({ what: `asked: ${file}` }));
  while (!existsSync(file));
  return later ? Promise.resolve(echoes) : echoes;
});
const ok = get(Path.of("ok"), { returns: Returns.text }, () => "ok");
const { port, url } = await serve([socket, ok], { port: 0, host: "127.0.0.1" });
console.log(JSON.stringify({ port, url }));

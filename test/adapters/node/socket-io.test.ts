/** Socket.IO and an app on one port, with the official client of Socket.IO. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it.each(["listener", "serve"])("%s shares its port with Socket.IO, over polling and over a WebSocket", async (by) => {
  const program = join(import.meta.dirname, "socket-io-program.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [program, by]);
  expect(JSON.parse(stdout)).toEqual({
    polling: ["socket.io polling", "polling"],
    websocket: ["socket.io websocket", "websocket"],
    usher: "usher hello",
    request: "Hello.",
  });
});

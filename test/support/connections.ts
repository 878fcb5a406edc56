/** Ten thousand connections with nothing to ask, of a process of their own: with their server's it would take twice the descriptors. */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { expect } from "vitest";
import { endsWithTest } from "./ends.ts";
import { need } from "./needs.ts";
import type { Need } from "./needs.ts";

export const count = 10_000;

// Node takes all the descriptors that it may, and what it starts has as many.
const descriptors = Number(spawnSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }).stdout);
const isEnough = descriptors >= count + 1000;
const wanted = `${count + 1000} descriptors; \`ulimit -n\` is ${descriptors}`;
export const manyDescriptors: Need = need(wanted, isEnough);

const opens = `
const { connect } = require("node:net");
const [port, path] = process.argv.slice(1);
const sockets = [];
const open = () => new Promise((resolve, reject) => {
  const socket = connect(port, "127.0.0.1");
  socket.once("error", reject);
  socket.once("connect", () => {
    // Every other one has asked something, and is kept.
    if (sockets.push(socket) % 2 === 0) return resolve();
    socket.once("data", () => resolve()).write("GET " + path + " HTTP/1.1\\r\\nhost: h\\r\\n\\r\\n");
  });
});
const all = async () => {
  for (let i = 0; i < ${count}; i += 100) await Promise.all(Array.from({ length: 100 }, open));
  let left = ${count};
  for (const socket of sockets) socket.on("error", () => {}).once("close", () => --left === 0 && process.send("closed"));
  process.on("message", () => { for (const socket of sockets) socket.destroy(); });
  process.send("open");
};
void all();
`;

const children: ChildProcess[] = [];
endsWithTest(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Opens the connections in another process. Any message to it closes them. It sends a message when the last one is closed, by either side. */
export async function connectAll(port: number, path: string): Promise<ChildProcess> {
  if (!isEnough) throw new Error(`no ${wanted}`);
  const child = spawn(process.execPath, ["-e", opens, String(port), path], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  children.push(child);
  expect(await once(child, "message")).toEqual(["open", undefined]);
  return child;
}

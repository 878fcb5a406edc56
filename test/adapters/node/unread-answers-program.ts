/** Run with a small heap: a server with long answers. Each second of its life it is asked over its own route how much memory it has. */
import { Answer, Path, Returns, get } from "usher-http";
import { serve } from "../../../adapters/node/index.ts";
import type { ServeOptions } from "../../../adapters/node/index.ts";

const long = "x".repeat(1024 * 1024);
let made = 0;

// A text of its own for each: one that all share would take the memory of one.
const textOf = (length: number): string => `${made++} ${long.slice(0, length)}`;
const whole = (name: string, length: number) => get(Path.of(name), { returns: Returns.text }, () => textOf(length));
const later = get(Path.of("later"), { returns: Returns.text }, async () => {
  await new Promise(setImmediate);
  return textOf(long.length);
});
const stream = get(Path.of("stream"), { returns: Returns.response }, () => {
  async function* parts() {
    for (let i = 0; i < 1000; i++) yield Buffer.from(textOf(65_536));
  }
  return Answer.stream(parts());
});
const count = get(Path.of("made"), { returns: Returns.text }, () => String(made));

const options = JSON.parse(process.argv[2] ?? "{}") as ServeOptions;
const routes = [whole("long", long.length), whole("medium", 50_000), whole("short", 100), later, stream, count];
const server = await serve(routes, { port: 0, host: "127.0.0.1", ...options });
console.log(JSON.stringify({ port: server.port, url: server.url }));

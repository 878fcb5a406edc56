/**
 * `node measure.mjs <rounds>`: sends the milliseconds of CPU for each text of 1 MiB, with `new URLSearchParams` and with the
 * parser of a route with five fields. It also runs on Bun and Deno, and prints if it has no parent.
 */
import process from "node:process";
import { importSource } from "../harness/source.mjs";
import { texts } from "./texts.mjs";

const { FieldNames, FieldValues } = await importSource("src/inputs/text.ts");
const rounds = Number(process.argv[2] ?? 9);
const names = new FieldNames();
const fields = ["q", "n", "one", "two"].map((name) => names.add(name, false));
const list = names.add("l", true);

const readers = {
  URLSearchParams: (text) => new URLSearchParams(text),
  usher: (text) => {
    const values = new FieldValues(text, names);
    return [...fields.map((field) => values.first(field)), ...values.all(list)];
  },
};

const figures = {};
for (const [name, text] of Object.entries(texts)) {
  // A flat string, as a listener has, and not a rope.
  const sent = new TextDecoder().decode(new TextEncoder().encode(text));
  figures[name] = Object.fromEntries(Object.entries(readers).map(([who, read]) => [who, leastOf(read, sent)]));
}
if (process.send === undefined) console.log(JSON.stringify(figures, null, 1));
else process.send(figures);

/** The minimum of several rounds: other work of the machine only adds time. */
function leastOf(read, text) {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    read(text);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

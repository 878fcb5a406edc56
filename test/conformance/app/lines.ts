/** JSON lines in requests and answers (rows JL). */
import * as v from "valibot";
import { Codec, Path, Query, Returns, clientGone, get, jsonLines, param, post } from "usher-http";
import type { Route } from "usher-http";
import { note, passed } from "./state.ts";

const Order = v.object({ item: v.string(), quantity: v.pipe(v.number(), v.integer(), v.minValue(1)) });
const key = Path.str("key");
const keyed = { key: param(key) };
const filler = "x".repeat(65_536);

async function* endless(key: string): AsyncGenerator<string> {
  try {
    for (;;) yield filler;
  } finally {
    note(`${key} ended`, "yes");
  }
}

const read: readonly Route[] = [
  post(
    Path.of("lines", "read"),
    { inputs: { orders: jsonLines(Order, { max: 200_000, maxLine: 70_000 }) }, returns: Returns.text },
    async ({ orders }) => {
      let [count, quantity] = [0, 0];
      for await (const order of orders) {
        count++;
        quantity += order.quantity;
      }
      return `${count} orders of ${quantity}`;
    },
  ),
  // Records each line when it arrives.
  post(
    Path.of("lines", "noted", key),
    { inputs: { ...keyed, values: jsonLines(v.number(), { max: 1000 }) }, returns: Returns.text },
    async ({ key, values }) => {
      let sum = 0;
      for (let read = await values.read(); ; read = await values.read()) {
        if (!read.ok) {
          note(`${key} ended`, read.error.kind);
          return "failed";
        }
        if (read.value === undefined) return `${sum}`;
        sum += read.value;
        note(`${key} read ${read.value}`, `${sum}`);
      }
    },
  ),
];

const sent: readonly Route[] = [
  get(
    Path.of("lines", "sent"),
    { inputs: { count: Query.required("count", Codec.int) }, returns: Returns.jsonLines(Order) },
    ({ count }) =>
      (async function* () {
        for (let n = 1; n <= count; n++) yield { item: `line\n${n}`, quantity: n };
      })(),
  ),
  get(
    Path.of("lines", "waits", key),
    { inputs: keyed, returns: Returns.jsonLines(v.number()) },
    async function* ({ key }) {
      yield 1;
      await passed(key);
      yield 2;
    },
  ),
  // Holds nothing that a disconnect of its client would end.
  get(
    Path.of("lines", "quiet", key),
    { inputs: { ...keyed, clientGone }, returns: Returns.jsonLines(v.number()) },
    async function* ({ key, clientGone }) {
      yield 1;
      await passed(key, clientGone);
      note(`${key} ended`, clientGone.aborted ? "gone" : "there");
    },
  ),
  get(Path.of("lines", "endless", key), { inputs: keyed, returns: Returns.jsonLines(v.string()) }, ({ key }) =>
    endless(key),
  ),
  get(
    Path.of("lines", "broken", key),
    { inputs: keyed, returns: Returns.jsonLines(v.number()) },
    async function* ({ key }) {
      try {
        yield 1;
        await passed(key);
        yield "no number" as never;
      } finally {
        note(`${key} ended`, "yes");
      }
    },
  ),
];

export const lines: readonly Route[] = [...read, ...sent];

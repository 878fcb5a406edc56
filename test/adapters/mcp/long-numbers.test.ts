import { Codec, Event, Meta, Path, Query, Returns, Shape, Test, get, json, jsonLines, post } from "usher-http";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { ask, callOfText } from "./asking.ts";

const long = "9007199254740993";
const Transfer = v.object({ amount: Shape.int64, notes: v.optional(v.array(v.string())) });
const filter = Query.object("filter", v.object({ amount: Shape.int64, among: v.array(Shape.int64) }));
const amount = Query.required("amount", Codec.int64);

const Sent = Event.json("sent", Transfer);
const sentOf = (name: string, events: "content" | "progress") =>
  get(Path.of(name), { meta: Meta.tool({ name, events }), returns: Returns.events([Sent]) }, () => async (send) => {
    await send(Event.make(Sent, { amount: BigInt(long) }, { id: "1" }));
  });

const routes = [
  sentOf("events", "content"),
  sentOf("progress", "progress"),
  post(
    Path.of("transfers"),
    { meta: Meta.tool({ name: "transfer" }), inputs: { sent: json(Transfer) }, returns: Returns.json(Transfer) },
    ({ sent }) => sent,
  ),
  post(
    Path.of("lists"),
    {
      meta: Meta.tool({ name: "transfer_list" }),
      inputs: { sent: json(v.array(Transfer)) },
      returns: Returns.json(v.array(Transfer)),
    },
    ({ sent }) => sent,
  ),
  post(
    Path.of("dated"),
    {
      meta: Meta.tool({ name: "transfer_more" }),
      inputs: { sent: json(Transfer), amountBefore: Query.required("before", Codec.int64) },
      returns: Returns.json(v.object({ amount: Shape.int64, before: Shape.int64 })),
    },
    ({ sent, amountBefore }) => ({ amount: sent.amount, before: amountBefore }),
  ),
  post(
    Path.of("lines"),
    {
      meta: Meta.tool({ name: "transfer_lines" }),
      inputs: { lines: jsonLines(Transfer, { max: 10_000 }) },
      returns: Returns.text,
    },
    async ({ lines }) => {
      const amounts: string[] = [];
      for await (const { amount } of lines) amounts.push(String(amount));
      return amounts.join(",");
    },
  ),
  get(
    Path.of("amounts"),
    { meta: Meta.tool({ name: "show" }), inputs: { amount }, returns: Returns.text },
    ({ amount }) => String(amount),
  ),
  get(
    Path.of("filtered"),
    { meta: Meta.tool({ name: "filter" }), inputs: { filter }, returns: Returns.text },
    ({ filter: { amount, among } }) => [amount, ...among].join(),
  ),
];
const app = Test.app([...routes, ...Mcp.routes(routes, { name: "bank", version: "1" })]);

async function textOf(name: string, given: string, params = `"name":"${name}","arguments":${given}`): Promise<string> {
  const { headers, body } = callOfText(name, params);
  const answered = await Test.call(app, "POST", "/mcp", { body: new TextEncoder().encode(body), headers });
  const { result } = JSON.parse(answered.body) as { result: { content: readonly [{ text: string }] } };
  return result.content[0].text;
}

describe("a whole number above 2^53 keeps its digits", () => {
  it.each([
    ["transfer", `{"amount":${long}}`, `{"amount":${long}}`],
    ["transfer", `{ "amount" :\n${long}\t, "notes": ["}", "\\"]"] }`, `{"amount":${long},"notes":["}","\\"]"]}`],
    ["transfer", `{"amount":1,"\\u0061mount":${long}}`, `{"amount":${long}}`],
    ["transfer_list", `{"body":[{"amount":${long}},{"amount":-${long}}]}`, `[{"amount":${long}},{"amount":-${long}}]`],
    ["transfer_more", `{"amount":${long},"before":${long}}`, `{"amount":${long},"before":${long}}`],
    ["transfer_lines", `{"body":[{"amount":${long}}, {"amount":2}]}`, `${long},2`],
    ["show", `{"amount":${long}}`, long],
    ["show", `{"amount":"${long}"}`, long],
    ["filter", `{"filter":{"amount":${long},"among":[1,-${long}]}}`, `${long},1,-${long}`],
  ])("%s of %s", async (name, given, answer) => {
    expect(await textOf(name, given)).toBe(answer);
  });

  it("in the events of a stream", async () => {
    expect(await textOf("events", "{}")).toBe(`{"events":[{"event":"sent","id":"1","data":{"amount":${long}}}]}`);
    const params = { name: "progress", _meta: { progressToken: "t" } };
    const { body } = await ask(app, "tools/call", params);
    const messages = [...body.matchAll(/^data: (.*progress.*)$/gm)].map(
      ([, data = ""]) => JSON.parse(data) as { params: { message: string } },
    );
    expect(messages.map(({ params }) => params.message)).toEqual([
      `{"event":"sent","id":"1","data":{"amount":${long}}}`,
    ]);
  });

  it("when the arguments are sent twice the last ones count", async () => {
    const twice = `"arguments":{"amount":1},"name":"transfer","arguments":{"amount":${long}}`;
    expect(await textOf("transfer", "", twice)).toBe(`{"amount":${long}}`);
  });
});

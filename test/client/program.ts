/** The typed client on the runtime that runs this file. It writes what it observed as a line of JSON. */
import * as v from "valibot";
import { App, Client, Codec, Event, Form, Header, Path, Query, Returns, get, json, post } from "usher-http";

const Count = Event.json("count", v.number());
const Word = Event.text("word");
const routes = [
  post(
    Path.of("orders"),
    { inputs: { order: json(v.object({ item: v.string() })) }, returns: Returns.json(v.string()) },
    ({ order }) => order.item,
  ),
  get(Path.of("tags"), { inputs: { tags: Query.list("tag", Codec.string) }, returns: Returns.text }, ({ tags }) =>
    tags.join(),
  ),
  post(Path.of("files"), { inputs: { file: Form.File.required("file") }, returns: Returns.text }, ({ file }) =>
    new TextDecoder().decode(file.content),
  ),
  get(
    Path.of("feed"),
    { inputs: { last: Header.optional("last-event-id", Codec.int) }, returns: Returns.events([Count, Word]) },
    ({ last }) =>
      async (send) => {
        await send(Event.retry({ ms: 1 }));
        await send(Event.make(Word, "1"));
        await send(Event.make(Count, (last ?? 0) + 1, { id: `${(last ?? 0) + 1}` }));
        if (last === undefined) throw new Error("cut");
      },
  ),
] as const;

const api = Client.of<typeof routes>({ baseUrl: "http://localhost", fetch: App.make(routes).fetch });
const seen: unknown[] = [];
const placed = await api["POST /orders"]({ json: { item: "pen" } });
seen.push(placed.ok && placed.value);
const refused = await api["POST /orders"]({ json: { item: 1 as never } });
seen.push(!refused.ok && refused.problems.map(({ at }) => at));
const tags = await api["GET /tags"]({ query: { tag: ["a b", "ü"] } });
seen.push(tags.ok && tags.value);
const file = await api["POST /files"]({ form: { file: new File(["hello"], "hello.txt") } });
seen.push(file.ok && file.value);
const feed = await api["GET /feed"]();
if (feed.ok) {
  for await (const { value } of feed.value) {
    seen.push(value);
    if (value === 2) break;
  }
}
console.log(JSON.stringify(seen));

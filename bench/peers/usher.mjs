import { Log, Path, Query, Returns, get, json, param, post } from "usher-http";
import { serve } from "usher-http/node";
import * as v from "valibot";

const whole = v.pipe(v.number(), v.integer());
const sorts = ["up", "down"];
const Item = v.object({ title: v.pipe(v.string(), v.minLength(1)), count: v.pipe(whole, v.minValue(1)) });
const Id = v.object({ id: v.string() });

const id = Path.param("id", whole);
const anything = Path.str("text");

const routes = [
  post(
    Path.of("u", id),
    {
      inputs: {
        id: param(id),
        page: Query.required("page", whole),
        limit: Query.required("limit", whole),
        sort: Query.required("sort", v.picklist(sorts)),
        item: json(Item),
      },
      returns: Returns.json(Id),
    },
    ({ id }) => ({ id: String(id) }),
  ),
  get(Path.of("u", id), { inputs: { id: param(id) }, returns: Returns.json(Id) }, ({ id }) => ({ id: String(id) })),
  get(Path.of("t", anything), { inputs: { id: param(anything) }, returns: Returns.json(Id) }, ({ id }) => ({ id })),
  get(Path.of("t", "me"), { returns: Returns.json(Id) }, () => ({ id: "the literal" })),
  get(Path.of("raises"), { returns: Returns.json(Id) }, () => {
    throw new Error("db password is hunter2");
  }),
];

/** @returns {Promise<number>} */
export async function start() {
  Log.setup({ out: () => {} });
  return (await serve(routes, { host: "127.0.0.1", port: 0 })).port;
}

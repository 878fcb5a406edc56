import {
  Answer,
  Codec,
  Dep,
  Form,
  Path,
  Query,
  Returns,
  Route,
  answer,
  body,
  get,
  json,
  param,
  post,
} from "usher-http";
import * as v from "valibot";

const rest = Path.rest("rest");
const bound = Dep.bind(Query.list("tag", Codec.string), () => Dep.return(1));
const moon = Dep.ofRequest(() => "new", { needs: [{ custom: "the moon" }] });
const shelf = Path.int("shelf");
const shop = Route.group({ prefix: Path.of("shops", Path.int("shop")), inputs: { q: Query.optional("q", Codec.int) } });

/** Routes with what the orders example has not. */
export const routes = [
  get(Path.of("files", rest), { inputs: { rest: param(rest), bound }, returns: Returns.text }, () => ""),
  post(
    Path.of("notes"),
    {
      inputs: {
        title: Form.required("title", Codec.string),
        tags: Form.list("tag", Codec.string),
        file: Form.File.optional("file"),
      },
      returns: Returns.emptyResponse({ 201: "Made.", 204: "Kept." }),
    },
    () => answer(204),
  ),
  post(Path.of("bytes"), { inputs: { body, moon }, returns: Returns.response }, () => Answer.empty()),
  shop.get(Path.of(shelf), { inputs: { shelf: param(shelf) }, returns: Returns.text }, () => ""),
  post(Path.of("any"), { inputs: { any: json(v.unknown()) }, returns: Returns.json(v.unknown()) }, ({ any }) => any),
] as const;

/** `GET /codec/{name}` reads `x-value` with a codec and answers with the printed value (rows CD, FV). */
import { Codec, Header, Path, Returns, get } from "usher-http";
import type { Route } from "usher-http";

export const codecs: readonly Route[] = [
  route("string", Codec.string),
  route("int", Codec.int),
  route("int64", Codec.int64),
  route("float", Codec.float),
  route("bool", Codec.bool),
  route("colour", Codec.enum("colour", ["blue", "gold"])),
  route("uuid", Codec.uuid),
  route("date", Codec.date),
  route("instant", Codec.instant),
  route("media-type", Codec.mediaType),
  route("credentials", Codec.credentials),
  route("accept", Codec.accept),
  route("weighted", Codec.weighted),
  route("cache-control", Codec.cacheControl),
  route("forwarded", Codec.forwarded),
  route("item", Codec.structuredItem),
  route("list", Codec.structuredList),
  route("dictionary", Codec.structuredDictionary),
];

function route<A>(name: string, codec: Codec.Codec<A>): Route {
  return get(
    Path.of("codec", name),
    { inputs: { value: Header.required("x-value", codec) }, returns: Returns.text },
    ({ value }) => codec.print(value),
  );
}

/** Routes that read bodies of every kind, and the options of their app: for every runtime. */
import * as v from "valibot";
import {
  Codec,
  Dep,
  Event,
  Form,
  Header,
  Log,
  Path,
  Returns,
  body,
  bodyStream,
  get,
  json,
  multipart,
  post,
} from "usher-http";
import { Compress, Decompress } from "usher-http/compress";

Log.setup({ level: undefined });
const returns = Returns.text;
const whole = { contentTypes: ["text/*"] };

const said = Event.text("said");

export const routes = [
  get(Path.of("large"), { returns }, () => "a line of text\n".repeat(1000)),
  get(Path.of("events"), { returns: Returns.events([said]) }, () => async (send) => {
    for (const word of ["one", "two", "x".repeat(100_000), "three"]) await send(Event.make(said, word));
  }),
  post(Path.of("json"), { inputs: { read: json(v.object({ a: v.string() })) }, returns }, ({ read }) => read.a),
  post(Path.of("form"), { inputs: { a: Form.required("a", Codec.string) }, returns }, ({ a }) => a),
  post(
    Path.of("file"),
    { inputs: { file: Form.File.required("file") }, returns },
    ({ file }) => `${file.content.byteLength}`,
  ),
  post(Path.of("parts"), { inputs: { form: multipart({ max: 4e6 }) }, returns }, async ({ form }) => {
    let length = 0;
    for await (const part of form) for await (const piece of part) length += piece.byteLength;
    return `${length}`;
  }),
  post(Path.of("bytes"), { inputs: { body }, returns }, ({ body }) => `${body.byteLength}`),
  post(
    Path.of("text"),
    { inputs: { read: Dep.ofBody(whole, (bytes) => new TextDecoder().decode(bytes)) }, returns },
    ({ read }) => read,
  ),
  post(Path.of("stream"), { inputs: { body: bodyStream({ max: 4e6 }) }, returns }, async ({ body }) => {
    let length = 0;
    for await (const part of body) length += part.byteLength;
    return `${length}`;
  }),
  post(
    Path.of("raw"),
    { inputs: { coding: Header.required("content-encoding", Codec.string), body }, returns },
    ({ coding, body }) => `${coding} ${body.byteLength}`,
  ),
  post(Path.of("unread"), { returns }, () => "unread"),
];

export const options = { maxBody: 100_000, decompress: Decompress.make(), middleware: [Compress.make()] };

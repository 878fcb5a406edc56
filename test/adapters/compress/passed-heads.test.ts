/** A HEAD that other code answers by a head alone: what `Compress` leaves of it. */
import { expect, it } from "vitest";
import { App, Path, Route } from "usher-http";
import { Compress } from "usher-http/compress";

type Fields = { readonly [name: string]: string };

const text = { "content-type": "text/plain", etag: '"one"' };
const gzip = { "accept-encoding": "gzip" };
const varies = { vary: "Accept-Encoding" };

async function headOf(fields: Fields, accepts: Fields): Promise<Fields> {
  const mount = Route.mount(Path.of("m"), () => new Response(null, { headers: fields }));
  const app = App.make([mount], { middleware: [Compress.make()] });
  const { headers } = await app.fetch(new Request("http://localhost/m", { method: "HEAD", headers: accepts }));
  return Object.fromEntries([...headers].filter(([name]) => name !== "date" && name !== "x-request-id"));
}

it.each<readonly [what: string, fields: Fields, accepts: Fields, sent: Fields]>([
  ["of a text", { ...text, "content-length": "6000" }, gzip, { "content-type": "text/plain", ...varies }],
  ["of a text without a length", text, gzip, { "content-type": "text/plain", ...varies }],
])("%s has no length and no tag, since those of a compressed GET are others", async (_what, fields, accepts, sent) => {
  expect(await headOf(fields, accepts)).toEqual(sent);
});

it.each<readonly [what: string, fields: Fields, accepts: Fields, added: Fields]>([
  ["of a text, for a client that takes no coding", { ...text, "content-length": "6000" }, {}, varies],
  ["of a short text", { ...text, "content-length": "10" }, gzip, varies],
  ["of a picture", { ...text, "content-type": "image/png", "content-length": "6000" }, gzip, {}],
  ["of an encoded text", { ...text, "content-encoding": "br", "content-length": "6000" }, gzip, {}],
  [
    "of a text that is not to be transformed",
    { ...text, "cache-control": "no-transform", "content-length": "6000" },
    gzip,
    {},
  ],
])("%s is sent as it is", async (_what, fields, accepts, added) => {
  expect(await headOf(fields, accepts)).toEqual({ ...fields, ...added });
});

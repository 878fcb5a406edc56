/** Answers of every kind, declared and built, whole and streamed (rows AN). */
import * as v from "valibot";
import { Answer, Codec, Path, Query, Refusal, Returns, answer, get, html, param, post, put, refuse } from "usher-http";
import type { Route } from "usher-http";

const gone = Refusal.code("gone", { status: 410, doc: "It was here once." });
const name = Path.str("name");
const status = Path.int("status");
const kind = Path.str("kind");

const later = (text: string) => new Promise<string>((resolve) => setTimeout(resolve, 5, text));

async function* rows() {
  for (let n = 0; n < 3; n++) yield html`<i>${await later(`${n}&`)}</i>`;
}

const declared: readonly Route[] = [
  get(Path.of("html"), { returns: Returns.html }, () => "<p>höme</p>"),
  get(Path.of("template"), { returns: Returns.html }, () => html`<p title=${'"'}>${"<é>"}</p>`),
  get(Path.of("template", "later"), { returns: Returns.html }, () => html`<p>${later("<é>")}${rows()}</p>`),
  get(
    Path.of("template", "wrong"),
    { returns: Returns.html },
    () => html`<p>${Promise.reject(new Error("secret"))}</p>`,
  ),
  get(Path.of("utf8"), { returns: Returns.text }, () => "Grüße, 世界 🌍"),
  get(Path.of("nothing"), { returns: Returns.text }, () => ""),
  get(Path.of("json"), { returns: Returns.json(v.object({ a: v.string() })) }, () => ({ a: "ü", secret: "never" })),
  get(Path.of("unwritable"), { returns: Returns.json(v.number()) }, () => Number.NaN),
  get(Path.of("empty"), { returns: Returns.empty() }, () => undefined),
  get(Path.of("empty", "200"), { returns: Returns.empty({ status: 200 }) }, () => undefined),
  get(Path.of("empty", "205"), { returns: Returns.empty({ status: 205 }) }, () => undefined),
  put(
    Path.of("people", name),
    {
      inputs: { name: param(name) },
      returns: Returns.jsonResponse(v.string(), { 200: "It was replaced.", 201: "It was made." }),
    },
    ({ name }) => answer(name === "kim" ? 201 : 200, name),
  ),
  post(
    Path.of("jobs"),
    {
      inputs: { wait: Query.default("wait", Codec.bool, false) },
      returns: Returns.emptyResponse({ 202: "It will be done.", 204: "It is done." }),
    },
    ({ wait }) => answer(wait ? 204 : 202),
  ),
];

const built: readonly Route[] = [
  get(Path.of("status", status), { inputs: { status: param(status) }, returns: Returns.response }, ({ status }) =>
    Answer.make(`status ${status}`, { status }),
  ),
  get(
    Path.of("bodiless", status, kind),
    { inputs: { status: param(status), kind: param(kind) }, returns: Returns.response },
    ({ status, kind }) => {
      const options = { status, contentType: "text/plain" };
      if (kind === "text") return Answer.make("text", options);
      if (kind === "bytes") return Answer.make(new Uint8Array(4), options);
      if (kind === "parts") return Answer.stream(parts("text"), options);
      const body = new Blob(["text"]).stream();
      return Answer.stream(body, kind === "length" ? { ...options, length: 4 } : options);
    },
  ),
  get(Path.of("typed-answer"), { returns: Returns.response }, () =>
    Answer.make(new Uint8Array([0, 0xc3, 0xbc]), { contentType: "application/x-thing" }),
  ),
  get(Path.of("not-modified"), { returns: Returns.response }, () =>
    Answer.empty({ status: 304, headers: [["etag", '"a"']] }),
  ),
  get(Path.of("redirect"), { returns: Returns.response }, () => Answer.redirect("/hello/kim?a=b%20c")),
  get(Path.of("redirect", "308"), { returns: Returns.response }, () =>
    Answer.redirect("https://example.com/", { status: 308 }),
  ),
  get(Path.of("repeated"), { returns: Returns.response }, () =>
    Answer.make("x", {
      headers: [
        ["X-Mine", "1"],
        ["x-mine", "2, 3"],
        ["vary", "accept"],
      ],
    }),
  ),
  get(
    Path.of("platform"),
    { returns: Returns.response },
    () => new Response("from the platform", { status: 203, headers: { "content-type": "text/x-own", "x-mine": "1" } }),
  ),
  get(Path.of("platform", "empty"), { returns: Returns.response }, () => new Response(null, { status: 204 })),
  get(Path.of("close"), { returns: Returns.response }, () => Answer.closeConnection(Answer.make("bye"))),
  get(Path.of("close", "stream"), { returns: Returns.response }, () =>
    Answer.closeConnection(Answer.stream(parts("bye"), { contentType: "text/plain" })),
  ),
  get(Path.of("refusal"), { returns: Returns.response, refuses: [gone] }, () =>
    Answer.refusal(refuse(gone, "It went.")),
  ),
];

async function* parts(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode("half");
  throw new Error("a secret");
}

const plain = { contentType: "text/plain" };
const streams: readonly Route[] = [
  get(Path.of("stream"), { returns: Returns.response }, () => Answer.stream(parts("one ", "two ", "three"))),
  get(Path.of("stream", "empty"), { returns: Returns.response }, () => Answer.stream(parts(), plain)),
  get(Path.of("stream", "blanks"), { returns: Returns.response }, () => Answer.stream(parts("a", "", "b"), plain)),
  get(Path.of("stream", "length"), { returns: Returns.response }, () =>
    Answer.stream(parts("he", "llo"), { ...plain, length: 5 }),
  ),
  get(Path.of("stream", "long"), { returns: Returns.response }, () =>
    Answer.stream(parts("hello, ", "world"), { ...plain, length: 5 }),
  ),
  get(Path.of("stream", "short"), { returns: Returns.response }, () =>
    Answer.stream(parts("hi"), { ...plain, length: 5 }),
  ),
  get(Path.of("stream", "broken"), { returns: Returns.response }, () => Answer.stream(broken(), plain)),
  get(Path.of("stream", "readable"), { returns: Returns.response }, () =>
    Answer.stream(new Blob(["a readable stream"]).stream(), plain),
  ),
  get(Path.of("stream", "large"), { returns: Returns.response }, () =>
    Answer.stream(parts(...Array.from({ length: 32 }, (_, i) => String(i % 10).repeat(8192))), plain),
  ),
  get(Path.of("large"), { returns: Returns.text }, () => "0123456789abcdef".repeat(16_384)),
];

export const answers: readonly Route[] = [...declared, ...built, ...streams];

/** What JavaScript can get wrong in the functions that a handler calls: answers, tokens, log lines and spans. */
import {
  Answer,
  Body,
  Cookie,
  Codec,
  Html,
  Keys,
  Log,
  Path,
  Refusal,
  Returns,
  Trace,
  addHeader,
  answer,
  earlyHints,
  get,
  html,
} from "usher-http";
import { Test, isSameSecret, refuse, setCookie } from "usher-http";
import * as v from "valibot";
import { names, optional } from "./rule.ts";
import type { Row, Tables } from "./rule.ts";

const work = () => 1;
const ring = Keys.ring("0123456789abcdef0123456789abcdef");

const built: readonly Row[] = [
  ["Answer.make", (x, o) => Answer.make(x, o), ["text", {}]],
  ["Answer.make", (x) => Answer.make("text", { download: x }), ["a.txt"]],
  ["Answer.html", (x, o) => Answer.html(x, o), ["<p>", {}]],
  ["Answer.html", (x) => Answer.html("<p>", { headers: x }), [[["x-a", "1"]]]],
  ["Answer.html", (x) => Answer.html("<p>", { cookies: x }), [[]]],
  ["html", (x) => html(x), [Object.assign(["<p>"], { raw: ["<p>"] })]],
  ["Html.trusted", (x) => Html.trusted(x), ["<p>"]],
  ["Html.json", (x) => Html.json(x), ["x"]],
  ["Html.text", (x) => Html.text(x), [html`<p></p>`]],
  ["Answer.json", (x, value, o) => Answer.json(x, value, o), [v.string(), "x", {}]],
  ["Answer.empty", (o) => Answer.empty(o), [{}]],
  ["Answer.redirect", (x, o) => Answer.redirect(x, o), ["/b", {}]],
  ["Answer.stream", (x, o) => Answer.stream(x, o), [new ReadableStream(), {}]],
  ["Answer.stream", (x) => Answer.stream(new ReadableStream(), { download: x }), ["a.txt"]],
  ["Answer.events", (f, o) => Answer.events(f, o), [work, {}]],
  ["Answer.takeover", (x, f, o) => Answer.takeover(x, f, o), ["lines", work, {}]],
  ["Answer.refusal", (x) => Answer.refusal(x), [refuse(Refusal.notFound)]],
  ["Answer.closeConnection", (x) => Answer.closeConnection(x), [Answer.html("<p>")]],
  ["Answer.pass", (x) => Answer.pass(x), [new Response("a")]],
  ["Body.refusal", (x) => Body.refusal(x), [{ kind: "too_large", detail: "It is long." }]],
];

const tokens: readonly Row[] = [
  ["Keys.sign", (k, x) => Keys.sign(k, x), [ring, "x"]],
  ["Keys.verify", (k, x, y) => Keys.verify(k, x, y), [ring, "x", "c2ln"]],
  ["Keys.seal", (k, x, y) => Keys.seal(k, x, y), [ring, "x", "mail"]],
  ["Keys.open", (k, x, y) => Keys.open(k, x, y), [ring, "x", "mail"]],
  ["isSameSecret", (x, y) => isSameSecret(x, y), ["x", "y"]],
  ["Codec.bearerToken", (x) => Codec.bearerToken(x), [{ scheme: "bearer", value: { kind: "token68", token: "x" } }]],
  ["Codec.basicLogin", (x) => Codec.basicLogin(x), [{ scheme: "basic", value: { kind: "token68", token: "x" } }]],
];

const told: readonly Row[] = [
  ["Log.setup", (o) => Log.setup(o), [{}]],
  ["Log.setup", (f) => Log.setup({ out: f }), [optional(() => {})]],
  ["Log.setup", (o) => Log.setup({ levels: o }), [names({})]],
  ["Log.setup", (x) => Log.setup({ level: x }), ["warn"]],
  ["Log.setup", (x) => Log.setup({ levels: { shop: x } }), ["warn"]],
  ["Log.setup", (x) => Log.setup({ format: x }), ["json"]],
  ["Log.configure", (o) => Log.configure(o), [{}]],
  ["Log.configure", (x) => Log.configure({ levels: x }), ["warn"]],
  ["Log.configure", (x) => Log.configure({ format: x }), ["json"]],
  ["Log.source", (x) => Log.source(x), ["shop"]],
  ["Log.tag", (o) => Log.tag(o), [names({})]],
  ["Log.tags", (o, f) => Log.tags(o, f), [names({}), work]],
  ["Log.carry", (f) => Log.carry(f), [work]],
  ["Trace.span", (x, f) => Trace.span(x, f), ["price", work]],
];

const cookie = Cookie.named("b", Codec.string);

/** What a handler raises, who calls what it is given. */
async function called(inputs: object, act: (inputs: never) => unknown): Promise<void> {
  let raised: unknown;
  const route = get(Path.of("a"), { inputs: inputs as never, returns: Returns.text }, (given: never) => {
    act(given);
    return "done";
  });
  await Test.call(Test.app([route], { onError: (error) => (raised = error) }), "GET", "/a");
  if (raised !== undefined) throw raised;
}

const given: readonly Row[] = [
  [
    "set-cookie",
    (x) => called({ setCookie }, ({ setCookie }: { setCookie: (x: unknown) => void }) => setCookie(x)),
    [Cookie.make(cookie, "x")],
  ],
  [
    "a header",
    (x, y) =>
      called({ addHeader }, ({ addHeader }: { addHeader: (x: unknown, y: unknown) => void }) => addHeader(x, y)),
    ["x-a", "1"],
  ],
  [
    "earlyHints",
    (x) => called({ earlyHints }, ({ earlyHints }: { earlyHints: (x: never) => void }) => earlyHints(x)),
    [["</a.css>; rel=preload"]],
  ],
  ["answer", (x) => answer(x, "x"), [200]],
];

export const runningTables: Tables = {
  "an answer that is built": built,
  "a secret": tokens,
  "a log line": told,
  "what a handler is given": given,
};

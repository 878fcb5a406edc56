/** Mistakes in an application's answers: a 500, or a stream that is cut off, and the next request is answered. */
import { cutStreams, wrongAnswers, wrongDependencies, wrongSettings } from "../app/wrong.ts";
import type { Configuration, MessageCase, Step, WireCase } from "../case.ts";
import { failed, text, typed } from "../expected.ts";
import { answers, answersHead, asks, by, cut, opens, sees } from "../steps.ts";

const pathOf = (...segments: readonly string[]): string => `/${segments.map(encodeURIComponent).join("/")}`;

/** On one connection, each answered with a 500 before the next request is sent. */
function all(title: string, names: readonly string[], under: readonly string[], on: Configuration = "main"): WireCase {
  const steps = names.flatMap((name): readonly Step[] => [asks(`GET ${pathOf(...under, name)}`), answers(failed)]);
  return { name: `AN ${title}: each is a 500, on one connection`, on, steps: [...steps, asks("GET /ok"), answers(ok)] };
}

export const cutName = (name: string): string => `AN wrong once its head is out: ${name}`;

const ok = text("ok");
const names = Object.keys(wrongAnswers);
const settings = [...Object.keys(wrongSettings), ...Object.keys(wrongDependencies)];

const parts = typed("text/plain", "odd!", { after: "either" });

export const wrongMessages: readonly MessageCase[] = [
  ...names.map((name): MessageCase => {
    return { name: `AN wrong: ${name}`, ask: `GET ${pathOf("wrong", "handler", name)}`, answer: failed };
  }),
  { name: "AN bytes that are shared", ask: "GET /odd-bytes/shared", answer: text("odd") },
  { name: "AN bytes that may be resized", ask: "GET /odd-bytes/resizable", answer: text("odd") },
  { name: "AN parts that are shared", ask: "GET /odd-parts/shared", answer: parts },
  { name: "AN parts that may be resized", ask: "GET /odd-parts/resizable", answer: parts },
];

export const wrongLines: readonly WireCase[] = [
  all("a wrong answer that is waited for", names, ["wrong", "later"]),
  all("a wrong answer of notFound", names, ["nowhere"], "wrong"),
  all("a wrong answer of middleware", names, ["around"], "wrong"),
  all("a wrong answer through middleware", names, ["wrong", "handler"], "wrong"),
  all("a wrong header or cookie of a handler", Object.keys(wrongSettings), ["wrong", "setting"]),
  all("what a dependency does wrong", settings, ["wrong", "dependency"]),
  all("what a dependency does wrong behind another", settings, ["wrong", "later-dependency"]),
  {
    name: "AN a wrong answer to HEAD is a 500 of no body",
    steps: [
      ...names.flatMap((name): readonly Step[] => {
        if (name.startsWith("an iterable")) return [];
        return [asks(`HEAD ${pathOf("wrong", "handler", name)}`), answersHead(failed)];
      }),
      asks("GET /ok"),
      answers(ok),
    ],
  },
  ...Object.keys(cutStreams).map((name): WireCase => {
    return {
      name: cutName(name),
      steps: [
        asks(`GET ${pathOf("wrong", "cut", name)}`, "GET /ok"),
        cut,
        ...by("another", asks("GET /ok"), answers(ok)),
      ],
    };
  }),
  ...(["response", "stream", "generator", "events"] as const).map((what): WireCase => {
    const ask = asks(`GET /wrong/again/${what}/wire`);
    return {
      name: `AN wrong: ${what} answered again`,
      steps: [
        ...by("the first", ask, sees(what === "events" ? "\r\n\r\n" : "once")),
        ask,
        answers(failed),
        ask,
        answers(failed),
        asks("GET /ok"),
        answers(ok),
      ],
    };
  }),
  {
    name: "AN wrong: a stream that another request is being answered with",
    steps: [
      asks("GET /wrong/at-once/shared-stream"),
      sees("one "),
      ...by("another", asks("GET /wrong/at-once/shared-stream"), answers(failed)),
      ...by("another", asks("HEAD /wrong/at-once/shared-stream"), answersHead(failed)),
      opens("shared-stream"),
      sees("two"),
      ...by("a third", asks("GET /ok"), answers(ok)),
    ],
  },
];

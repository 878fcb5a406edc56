/** No sentence of the framework's is outside of the table, and each language has each of them. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { App } from "usher-http";
import { chinese, french, german, japanese, languages, spanish } from "usher-http/languages";
import type { Sentences } from "usher-http/languages";
import { english } from "../../src/languages/english.ts";
import { translated } from "../../src/languages/translate.ts";
import { messageCases } from "../conformance/cases/index.ts";
import { configurations } from "../conformance/app/configurations.ts";
import { requestOf, unaskable } from "../conformance/run/fetch.ts";
import type { Configuration, MessageCase } from "../conformance/case.ts";

const all = [german, french, spanish, japanese, chinese];
const or = new Intl.ListFormat("de", { type: "disjunction" });
const inGerman = { sentences: german.sentences, joined: (words: readonly string[]) => or.format(words) };
const isKnown = (sentence: string): boolean => translated(sentence, inGerman) !== undefined;

/** The literals of a module that read like a sentence for a client. */
const sentence =
  /["`]((?:This|That|There is|Some of that|Something (?:went|the)|The (?:server is|body|path|address|method|caller|request must|resource has)|A WebSocket is|A browser|Inputs are|No byte|Nothing is) ?[^"`$]*\.)["`]/g;
/** What a code means. */
const meaning = /\bcode\("[a-z_]+",\s*\{[^}]*?doc:\s*"([^"]+)"/g;
const root = join(import.meta.dirname, "../..");
const sources = ["src", "adapters"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !/^(?:languages|client|openapi)\//.test(name))
    .map((name) => join(folder, name)),
);
// The sentences of the compiler and of `App.make`, the reason of a socket's end, which has 123 bytes, and what no client gets.
const ofDevelopers = new Set([
  "This is not Unicode text.",
  "The status of an answer is 2xx: a failure is a refusal.",
  "The status of a refusal is 4xx or 5xx.",
  "This schema gets the text itself: use one that takes a string, as z.coerce.number().",
  "The server is stopping.",
  "The client disconnected before its answer was made.",
  "Something went wrong at our end.",
  "A WebSocket is no query: open it by the client.",
]);
// The errors of JSON-RPC, which a model and its programmer read, in English as the words of the protocol.
const ofProtocols: ReadonlySet<string> = new Set([
  "adapters/mcp/http.ts",
  "adapters/mcp/protocol.ts",
  "adapters/mcp/server.ts",
]);

describe("the table of messages", () => {
  it("has every message of the source", () => {
    const translatable = sources.filter((file) => !ofProtocols.has(file));
    const unknown = translatable.flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8").replaceAll(/^ *(?:\/\/|\*|\/\*).*$/gm, "");
      return [...text.matchAll(sentence), ...text.matchAll(meaning)]
        .map(([, found = ""]) => found)
        .filter((found) => !ofDevelopers.has(found) && !isKnown(found))
        .map((found) => `${file}: ${found}`);
    });
    expect(unknown).toEqual([]);
  });

  it("has each message once, and none that is unused", () => {
    const texts = Object.values(english);
    expect(texts.filter((text, i) => texts.indexOf(text) !== i)).toEqual([]);
    const whole = sources.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
    const unsaid = texts.filter((text) => {
      const [, kind] = /^This is not (.*)\.$/.exec(text) ?? [];
      const [, outside] = /^This is (?:smaller|larger) than (.*) can hold\.$/.exec(text) ?? [];
      return !whole.includes(`"${text}"`) && !whole.includes(`"${kind ?? outside}"`) && !whole.includes(`${text}"`);
    });
    expect(unsaid).toEqual([]);
  });

  it.each(all)("is complete and has no unused part, in $tag", ({ tag, sentences }) => {
    const same = new Set(["aNull", "status451"]);
    const given = sentences as unknown as { readonly [key: string]: string };
    const untold = Object.entries(english).filter(([key, text]) => !same.has(key) && given[key] === text);
    expect(untold).toEqual([]);
    // What is to be copied as it stands is in the translation too.
    const lost = Object.entries(english).flatMap(([key, text]) => {
      if (key.startsWith("status")) return [];
      const kept =
        text.match(/\b(?:[^\s,]*[0-9][^\s,;]*[0-9a-zA-Z]|If-Match|Allow|Upgrade|Range|ETag|boundary)\b/g) ?? [];
      const has = (given[key] ?? "").toLowerCase();
      return kept
        .filter((word) => !has.includes(word.replace("-bit", "").toLowerCase()))
        .map((word) => `${key}: ${word}`);
    });
    expect(lost).toEqual([]);
    expect(Object.keys(sentences).toSorted()).toEqual(Object.keys(german.sentences).toSorted());
    expect(tag).toMatch(/^[a-z]{2}$/);
  });
});

/** The sentences of the applications of the conformance suite, which stay as they are. */
const ofApplications: readonly string[] = [
  "It is switched off.",
  "It went.",
  "Not a greeting.",
  "Sign in first.",
  "This is 1 or more.",
  "This is not an even number.",
  "This must not be before the start.",
  "Who are you?",
];

interface Told {
  readonly error?: string;
  readonly message?: string;
  readonly problems?: readonly { readonly at: string; readonly code: string; readonly message: string }[];
}

const told = (body: string): Told | undefined => {
  try {
    const read = JSON.parse(body) as Told;
    return typeof read?.error === "string" && typeof read.message === "string" ? read : undefined;
  } catch {
    return undefined;
  }
};

const placesOf = (one: Told | undefined) => one?.problems?.map(({ at, code }) => `${at} ${code}`);
const messagesOf = (one: Told | undefined) => [
  one?.message ?? "",
  ...(one?.problems ?? []).map(({ message }) => message),
];

const apps = new Map<Configuration, App>();
const appOf = (on: Configuration): App => {
  const { routes, options } = configurations[on];
  const made = apps.get(on) ?? App.make(routes, { ...options, languages: languages(all) });
  apps.set(on, made);
  return made;
};
const ask = async (one: MessageCase, language: string) => {
  const headers = [...(one.headers ?? []), ["accept-language", language] as const];
  const response = await appOf(one.on ?? "main").fetch(requestOf({ ...one, headers }), { peer: "127.0.0.1" });
  return [told(await response.text()), response] as const;
};

it("the problems and refusals of the conformance suite have the same codes and places, and other messages", async () => {
  const [sentences, untranslated] = [new Set<string>(), new Set<string>()];
  for (const one of messageCases) {
    if (unaskable(one) !== undefined || told(one.answer.body) === undefined) continue;
    const [was] = await ask(one, "en");
    const [is, response] = await ask(one, "de");
    if (was === undefined) continue;
    expect([one.name, is?.error, placesOf(is)]).toEqual([one.name, was.error, placesOf(was)]);
    messagesOf(was).forEach((message, i) => {
      (message === messagesOf(is)[i] ? untranslated : sentences).add(message);
    });
    expect(response.headers.get("vary")).toMatch(/accept-language/);
  }
  expect([...untranslated].toSorted()).toEqual(ofApplications);
  expect(sentences.size).toBeGreaterThan(40);
  // Each of them in each language: it is not the English one, and nothing of the table's own is in it.
  for (const { tag, sentences: table } of all) {
    const or = new Intl.ListFormat(tag, { type: "disjunction" });
    const writing = { sentences: table, joined: (words: readonly string[]) => or.format(words) };
    const odd = [...sentences].filter((sentence) => {
      const text = translated(sentence, writing);
      return text === undefined || text === sentence || /undefined|NaN|\[object| This /.test(text);
    });
    expect([tag, odd]).toEqual([tag, []]);
  }
});

it("every message that the tests of schemas, codecs and inputs expect is in the table, except the authors' own", () => {
  const folder = join(root, "test");
  const files = ["schema", "inputs", "codecs"].flatMap((name) =>
    readdirSync(join(folder, name), { encoding: "utf8" }).map((file) => join(folder, name, file)),
  );
  const found = files
    .filter((file) => file.endsWith(".test.ts"))
    .flatMap((file) =>
      [
        ...readFileSync(file, "utf8").matchAll(/(["'])(This (?:must|is|could|has|names) (?:(?!\1)[^\\\n]|\\.)*\.)\1/g),
      ].map(([, quote = "", text = ""]) =>
        quote === '"' ? (JSON.parse(`"${text}"`) as string) : text.replaceAll("\\'", "'"),
      ),
    );
  expect(new Set(found).size).toBeGreaterThan(80);
  expect([...new Set(found)].filter((text) => !isKnown(text)).toSorted()).toEqual([
    "This is 1 or more.",
    "This is odd.",
    "This must be less than the end.",
    "This must be more than the start.",
    "This must be odd.",
  ]);
});

const inOther: readonly (readonly [english: string, german: string])[] = [
  ["This must have exactly 2 items.", "Hier sind genau 2 Einträge nötig."],
  ["This must have at least 1 member.", "Hier ist mindestens 1 Feld nötig."],
  ["This must be at most 5 characters long.", "Hier sind höchstens 5 Zeichen erlaubt."],
  ["This must be at least 1 word long.", "Hier ist mindestens 1 Wort nötig."],
  ["This must be less than 10.", "Das muss kleiner als 10 sein."],
  ["This must be a multiple of 0.01.", "Das muss ein Vielfaches von 0.01 sein."],
  ["This must be at least 2026-01-01T00:00:00.000Z.", "Das muss mindestens 2026-01-01T00:00:00.000Z sein."],
  ["This must be at most -1e+21.", "Das muss höchstens -1e+21 sein."],
  ['This must be "a".', 'Möglich ist hier nur "a".'],
  ['This must be one of "a, \\"b\\" or c", 2 or true.', 'Möglich ist hier nur "a, \\"b\\" or c", 2 oder true.'],
  ["This must be one of no words at all.", "Möglich ist hier nur gar kein Wort."],
  ["This must be true or false, not null.", "Hier wird true oder false erwartet, nicht null."],
  ["This must be nothing at all, not something else.", "Hier wird gar nichts erwartet, nicht etwas anderes."],
  ['This must be one of "a" or "b" or null, not a list.', 'Hier wird "a", "b" oder null erwartet, nicht eine Liste.'],
  ["This is not a number or true or false.", "Hier wird eine Zahl oder true oder false erwartet."],
  ["This must be any JSON, not null.", "Hier wird beliebiges JSON erwartet, nicht null."],
  ['This must start with "a.".', 'Das muss mit "a." beginnen.'],
  ["Not ready: db, cache.", "Nicht bereit: db, cache."],
  ["This socket speaks chat, which was not offered.", "Dieser Socket spricht chat, was nicht angeboten wurde."],
];

it.each(inOther)("%s is %s", (sentence, expected) => {
  expect(translated(sentence, inGerman)).toBe(expected);
});

it.each([
  "This must be at least as long as the other.",
  "This must be one of us.",
  "This must be a number, not a name.",
  'This must be "a.',
  "This is not one of ours",
  "This is not one of our sizes.",
  "This must have exactly two items.",
  "",
  "constructor",
  "__proto__",
  `This must be one of ${"a or ".repeat(10_000)}b.`,
  `This must be ${'"'.repeat(10_001)}, not text.`,
])("an author's message is not translated: %s", (sentence) => {
  expect(translated(sentence, inGerman)).toBeUndefined();
});

it("a table that lacks a message is a type error, and an error at run time", () => {
  // @ts-expect-error `notFound` is not there.
  const lacking: Sentences = { ...german.sentences, notFound: undefined };
  expect(lacking.notFound).toBeUndefined();
});

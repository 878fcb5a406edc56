/** The language of an answer, by `Accept-Language` (RFC 9110 §12.5.4, RFC 4647 §3.4). */
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Answer, Codec, Path, Query, Refusal, RefusalFormat, Returns, Test, get, json, post, refuse } from "usher-http";
import type { AppOptions } from "usher-http";
import { chinese, french, german, japanese, language, languages, spanish } from "usher-http/languages";
import { OwnSentences } from "../../src/languages/own-sentences.ts";
import { held } from "../support/eventually.ts";
import { lines } from "../support/logs.ts";

const soldOut = Refusal.code("sold_out", { status: 409, doc: "None is left." });
const Order = v.object({
  name: v.pipe(v.string(), v.minLength(2), v.maxLength(1)),
  size: v.picklist(["small", "large"]),
  of: v.union([v.number(), v.null()]),
  items: v.pipe(v.array(v.pipe(v.number(), v.integer(), v.minValue(3))), v.maxLength(1)),
  mine: v.pipe(
    v.string(),
    v.check(() => false, "This must be at least as long as the other."),
  ),
});
const routes = [
  post(Path.of("orders"), { inputs: { order: json(Order) }, returns: Returns.text }, () => "x"),
  get(Path.of("n"), { inputs: { n: Query.required("n", Codec.int) }, returns: Returns.text }, () => "x"),
  get(
    Path.of("w"),
    { inputs: { w: Query.required("w", Codec.enum("w", ["a", "b or c"])) }, returns: Returns.text },
    () => "x",
  ),
  get(Path.of("sold"), { returns: Returns.text, refuses: [soldOut] }, () =>
    refuse(soldOut, undefined, { detail: "id 7" }),
  ),
  get(Path.of("bug"), { returns: Returns.text }, () => {
    throw new Error("s3cret");
  }),
];
const app = (options: AppOptions = {}) =>
  Test.app(routes, {
    languages: languages([german, french, language("pt-BR", german.sentences), chinese]),
    ...options,
  });
const asked = (acceptLanguage: string | undefined, options?: AppOptions, path = "/nowhere") =>
  Test.call(
    app(options),
    "GET",
    path,
    acceptLanguage === undefined ? {} : { headers: { "accept-language": acceptLanguage } },
  );

describe("the language of an answer", () => {
  it.each([
    [undefined, "en"],
    ["", "en"],
    ["de", "de"],
    ["DE", "de"],
    ["de-CH-1996", "de"],
    ["zh-Hant-TW", "zh"],
    ["pt-br", "pt-BR"],
    ["pt-BR-x-a-b", "pt-BR"],
    ["pt", "en"],
    ["nl, de;q=0.1", "de"],
    ["de;q=0.5, fr;q=0.9", "fr"],
    ["de , fr", "de"],
    ["de;q=0, fr;q=0.001", "fr"],
    ["de;q=0", "en"],
    ["en, de", "en"],
    ["en-GB;q=0.9,de;q=0.8", "en"],
    ["*", "en"],
    ["*, fr;q=0.5", "fr"],
    ["de;q=2, fr", "fr"],
    ["de; q=1.0000, fr", "fr"],
    ["de;level=1, fr", "fr"],
    ["d, fr", "fr"],
    ["constructor, __proto__, fr", "fr"],
    ["\u{e9}, fr", "fr"],
  ])("to %s is %s", async (acceptLanguage, expected) => {
    const { headers, status } = await asked(acceptLanguage);
    expect([status, headers.get("content-language"), headers.get("vary")]).toEqual([404, expected, "accept-language"]);
  });

  it.each([
    ["16 KiB of one tag", `${"a".repeat(16_384)}, de`, "en"],
    ["one tag of many subtags", `de${"-a1".repeat(5000)}`, "en"],
    ["thousands of ranges", `${"nl,".repeat(5000)}de`, "en"],
    ["thousands of ranges behind the one", `de,${"nl,".repeat(5000)}`, "de"],
    ["commas", `${",".repeat(16_000)}de`, "en"],
    ["white space", `${" \t".repeat(8000)}de`, "en"],
    ["weights", `de;q=0.${"0".repeat(10_000)}1,fr;q=0.5`, "en"],
    ["a thousand characters, which end within a tag", `${" ".repeat(997)},fra`, "en"],
    ["32 ranges, the last of which is whole", `${"nl,".repeat(31)}fr,${"nl,".repeat(400)}`, "fr"],
  ])("of %s is limited", async (_what, acceptLanguage, expected) => {
    expect((await asked(acceptLanguage)).headers.get("content-language")).toBe(expected);
  });

  it("is chosen from all lines of the header", async () => {
    const headers = [
      ["accept-language", "nl"],
      ["accept-language", "fr"],
    ] as const;
    expect((await Test.call(app(), "GET", "/nowhere", { headers })).headers.get("content-language")).toBe("fr");
  });

  it("is chosen only for a refusal, and for a HEAD too", async () => {
    const ok = Test.app([get(Path.root, { returns: Returns.text }, () => "x")], { languages: languages([german]) });
    const headers = { "accept-language": "de" };
    const answered = await Test.call(ok, "GET", "/", { headers });
    expect([answered.headers.get("content-language"), answered.headers.get("vary")]).toEqual([null, null]);
    const [head, whole] = [await Test.call(app(), "HEAD", "/nowhere", { headers }), await asked("de")];
    expect(head.headers.get("content-length")).toBe(whole.headers.get("content-length"));
    expect([head.body, head.headers.get("content-language")]).toEqual(["", "de"]);
  });
});

const wrong = { name: 7, size: "tiny", of: "x", items: [1, 2.5], mine: "x" };
const messages = async (tag: string) => {
  const { body } = await Test.call(
    Test.app(routes, { languages: languages([german, french, spanish, japanese, chinese]) }),
    "POST",
    "/orders",
    {
      body: wrong,
      headers: { "accept-language": tag },
    },
  );
  const { message, problems } = JSON.parse(body) as {
    message: string;
    problems: { at: string; code: string; message: string }[];
  };
  return [message, ...problems.map(({ at, code, message }) => `${at} ${code} ${message}`)];
};

describe("the problems of an order", () => {
  it.each([
    [
      "de",
      [
        "Einige Angaben in der Anfrage sind ungültig.",
        "body.name unexpected_type Hier wird Text erwartet, nicht eine Zahl.",
        'body.size unknown_word Möglich ist hier nur "small" oder "large".',
        "body.of unexpected_type Hier wird eine Zahl oder null erwartet, nicht Text.",
        "body.items[0] too_small Das muss mindestens 3 sein.",
        "body.items[1] unexpected_type Das muss eine ganze Zahl sein, kein Bruch.",
        "body.items too_many Hier ist höchstens 1 Eintrag erlaubt.",
        "body.mine malformed This must be at least as long as the other.",
      ],
    ],
    [
      "fr",
      [
        "Certaines données de la requête ne sont pas valides.",
        "body.name unexpected_type La valeur doit être du texte, et non un nombre.",
        'body.size unknown_word La valeur doit être l’une de celles-ci : "small" ou "large".',
        "body.of unexpected_type La valeur doit être un nombre ou null, et non du texte.",
        "body.items[0] too_small La valeur doit être au moins égale à 3.",
        "body.items[1] unexpected_type La valeur doit être un nombre entier, sans décimales.",
        "body.items too_many Il faut ici au plus 1 élément.",
        "body.mine malformed This must be at least as long as the other.",
      ],
    ],
    [
      "es",
      [
        "Algunos datos de la solicitud no son válidos.",
        "body.name unexpected_type El valor debe ser texto, no un número.",
        'body.size unknown_word El valor debe ser uno de estos: "small" o "large".',
        "body.of unexpected_type El valor debe ser un número o null, no texto.",
        "body.items[0] too_small El valor debe ser como mínimo 3.",
        "body.items[1] unexpected_type El valor debe ser un número entero, sin decimales.",
        "body.items too_many Debe tener como máximo 1 elemento.",
        "body.mine malformed This must be at least as long as the other.",
      ],
    ],
    [
      "ja",
      [
        "リクエストの内容に誤りがあります。",
        "body.name unexpected_type 数値ではなく、テキストを指定してください。",
        'body.size unknown_word "small"または"large" のいずれかを指定してください。',
        "body.of unexpected_type テキストではなく、数値またはnullを指定してください。",
        "body.items[0] too_small 3 以上の値を指定してください。",
        "body.items[1] unexpected_type 小数ではなく整数を指定してください。",
        "body.items too_many 要素は 1 個以下にしてください。",
        "body.mine malformed This must be at least as long as the other.",
      ],
    ],
    [
      "zh",
      [
        "请求中有部分内容无效。",
        "body.name unexpected_type 此值必须是文本，而不是数字。",
        'body.size unknown_word 此值必须是以下之一："small"或"large"。',
        "body.of unexpected_type 此值必须是数字或null，而不是文本。",
        "body.items[0] too_small 此值必须不小于 3。",
        "body.items[1] unexpected_type 此值必须是整数，不能是小数。",
        "body.items too_many 最多允许 1 个元素。",
        "body.mine malformed This must be at least as long as the other.",
      ],
    ],
  ])("in %s", async (tag, expected) => {
    expect((await messages(tag)).toSorted()).toEqual(expected.toSorted());
  });

  it("of a query, with the words of a codec unchanged", async () => {
    const first = async (path: string) =>
      (JSON.parse((await asked("de", {}, path)).body) as { problems: { message: string }[] }).problems[0]?.message;
    expect(await first("/n")).toBe("Diese Angabe fehlt.");
    expect(await first("/n?n=x")).toBe("Das ist keine ganze Zahl.");
    expect(await first("/w?w=x")).toBe("Das ist keines von a, b or c.");
  });
});

describe("messages of the application", () => {
  it("stay unchanged, without Content-Language, and use the language's messages if the table has them", async () => {
    const plain = await asked("de", {}, "/sold");
    expect(JSON.parse(plain.body)).toEqual({ error: "sold_out", message: "None is left." });
    expect([plain.headers.get("content-language"), plain.headers.get("vary")]).toEqual([null, "accept-language"]);
    const own = language("de", german.sentences, { "None is left.": "Ausverkauft." });
    const translated = await asked("de", { languages: languages([own]) }, "/sold");
    expect(JSON.parse(translated.body)).toEqual({ error: "sold_out", message: "Ausverkauft." });
    expect(translated.headers.get("content-language")).toBe("de");
  });

  it("stay without Content-Language for a reader of English, too, as their language is not known", async () => {
    const { body, headers } = await asked("en", {}, "/sold");
    expect(JSON.parse(body)).toEqual({ error: "sold_out", message: "None is left." });
    expect([headers.get("content-language"), headers.get("vary")]).toEqual([null, "accept-language"]);
  });

  const gaps = {
    "{item} is sold out.": "{item} ist ausverkauft.",
    "{from} to {to} is no span.": "Von {from} bis {to} ist keine Spanne: {to} liegt vor {from}.",
    "Ask {who}": "{who} fragen",
    "lamp is sold out.": "Keine Lampe mehr.",
    "Write {id}.": "Bitte {id}.",
    "Nobody knows {what}.": "Das weiß niemand.",
    "Size {größe} is gone.": "Größe {größe} ist weg.",
  };
  it.each([
    ["chair is sold out.", "chair ist ausverkauft."],
    // The whole text goes first.
    ["lamp is sold out.", "Keine Lampe mehr."],
    ["1 to 2 to 3 is no span.", "Von 1 bis 2 to 3 ist keine Spanne: 2 to 3 liegt vor 1."],
    ["Ask Ada.\nNow.", "Ada.\nNow. fragen"],
    ["Write {id}.", "Bitte {id}."],
    ["Write 7.", "Bitte 7."],
    // A gap has any text, whatever it looks like.
    ["Ask {who} $& $1", "{who} $& $1 fragen"],
    ["Nobody knows it.", "Das weiß niemand."],
    ["Size XL is gone.", "Größe XL ist weg."],
    ["Nothing here.", undefined],
  ])("may have gaps: %j is %j", async (said, translated) => {
    const code = Refusal.code("said", { status: 409, doc: "Said." });
    const own = [get(Path.of("said"), { returns: Returns.text, refuses: [code] }, () => refuse(code, said))];
    const answered = await Test.call(
      Test.app(own, { languages: languages([language("de", german.sentences, gaps)]) }),
      "GET",
      "/said",
      { headers: { "accept-language": "de" } },
    );
    expect(JSON.parse(answered.body)).toEqual({ error: "said", message: translated ?? said });
    expect(answered.headers.get("content-language")).toBe(translated === undefined ? null : "de");
  });

  it.each([" is sold out.", "to 2 is no span.", "1 to  is no span.", "1 to 2 is no span. ", "Ask ", "ask Ada"])(
    "of a language with gaps are not found for %j, where a gap is empty or the text is another",
    (said) => {
      expect(new OwnSentences(gaps).translated(said)).toBeUndefined();
    },
  );

  it("are found in a long sentence, each gap up to the first text after it", () => {
    // Each gap is before a text that is there many times.
    const own = new OwnSentences({ "{a} a {b} a {c} a {d}!": "{d}{c}{b}{a}" });
    expect(own.translated("a ".repeat(200_000))).toBeUndefined();
    expect(own.translated(`${"a ".repeat(200_000)}!`)?.length).toBeGreaterThan(399_000);
  });

  it("come back from what a property writes into the gaps", async () => {
    const word = fc.stringMatching(/^[^|]+$/);
    const own = new OwnSentences({ "{a}|{b}|{c}": "{c}-{b}-{a}-{b}" });
    const check = ([a, b, c]: readonly [string, string, string]): void => {
      expect(own.translated(`${a}|${b}|${c}`)).toBe(`${c}-${b}-${a}-${b}`);
    };
    await held(fc.assert(fc.property(fc.tuple(word, word, word), check)));
  });

  it("can replace one message of a language, and of English", async () => {
    const terse = language("en", { ...german.sentences, notFound: "Gone fishing." });
    const { body } = await asked("en", { languages: languages([terse]) });
    expect(JSON.parse(body)).toEqual({ error: "not_found", message: "Gone fishing." });
  });

  it("may have another fallback than English", async () => {
    const options = { languages: languages([german, french], { fallback: french }) };
    const tags = ["nl", "", "en", "de"].map(async (tag) => (await asked(tag, options)).headers.get("content-language"));
    expect(await Promise.all(tags)).toEqual(["fr", "fr", "en", "de"]);
  });

  it("are passed to its own format, with the title", async () => {
    const details = await asked("de", { refusalFormat: RefusalFormat.problemDetails() });
    expect(JSON.parse(details.body)).toMatchObject({
      title: "Nicht gefunden",
      detail: "Hier gibt es nichts.",
      error: "not_found",
    });
    expect([details.headers.get("content-type"), details.headers.get("content-language")]).toEqual([
      "application/problem+json",
      "de",
    ]);
    const typed = await asked(
      "de",
      { refusalFormat: RefusalFormat.problemDetails({ type: (code) => `https://h/${code}` }) },
      "/n",
    );
    expect(JSON.parse(typed.body)).toMatchObject({
      title: "Die Eingaben sind nicht, was die Route liest; zu jedem Problem ist die Stelle genannt.",
      problems: [{ at: "query.n", code: "required", message: "Diese Angabe fehlt." }],
    });
    const refusalFormat = RefusalFormat.text({
      contentType: "text/plain",
      write: ({ message, translate }) => `${message} ${translate("Not Found")} ${translate("mine")}`,
    });
    expect((await asked("de", { refusalFormat })).body).toBe("Hier gibt es nichts. Nicht gefunden mine");
    expect((await asked("en", { refusalFormat })).body).toBe("There is nothing here. Not Found mine");
  });
});

describe("not translated", () => {
  it("is the log, which is English", async () => {
    await asked("de", {}, "/sold");
    await asked("de", {}, "/bug");
    const said = lines().map(({ message }) => message);
    expect(said).toEqual(expect.arrayContaining(["GET /sold: sold_out: id 7", "GET /bug: internal: it raised"]));
    expect(JSON.stringify(lines())).not.toMatch(/Hier gibt|s3cret/);
  });

  it("is the answer to an exception, whatever a table does", async () => {
    const bug = await asked("de", {}, "/bug");
    expect(JSON.parse(bug.body)).toEqual({ error: "internal", message: german.sentences.internal });
    for (const wrongType of [
      () => {
        throw new Error("s3cret");
      },
      () => 7 as never,
    ]) {
      const sick = language("de", { ...german.sentences, wrongType });
      const options = { languages: languages([sick]) };
      const answered = await Test.call(app(options), "POST", "/orders", {
        body: wrong,
        headers: { "accept-language": "de" },
      });
      expect([answered.status, JSON.parse(answered.body)]).toEqual([
        500,
        { error: "internal", message: german.sentences.internal },
      ]);
      expect(answered.headers.get("vary")).toBe("accept-language");
    }
  });

  it("is a refusal that middleware changes", async () => {
    const middleware: AppOptions["middleware"] = [
      async (_request, next) => Answer.make(`seen: ${String((await next()).body)}`),
    ];
    expect((await asked("de", { middleware })).body).toBe(
      'seen: {"error":"not_found","message":"Hier gibt es nichts."}',
    );
  });

  it("the text of the client is never quoted", async () => {
    const headers = { "accept-language": "de-s3cret" };
    const answered = await Test.call(app(), "POST", "/orders", {
      body: { ...wrong, s3cret: 1, name: "s3cret" },
      headers,
    });
    expect(answered.headers.get("content-language")).toBe("de");
    expect(answered.body).not.toContain("s3cret");
  });
});

it.each([
  ["a tag that is none", () => language("deutsch, bitte", german.sentences), "language: its tag"],
  ["a tag that has the form of one alone", () => language("test", german.sentences), "language: its tag"],
  [
    "a sentence that is missing",
    () => language("nl", { ...german.sentences, busy: undefined as never }),
    "language: the sentence busy of nl is undefined",
  ],
  [
    "a rule that is a text",
    () => language("nl", { ...german.sentences, bound: "x" as never }),
    "language: the sentence bound of nl is a string",
  ],
  [
    "an own sentence that is a number",
    () => language("nl", german.sentences, { a: 7 as never }),
    "language: one of its own sentences of nl",
  ],
  [
    "a translation with a gap that its sentence has not",
    () => language("nl", german.sentences, { "{a} is gone.": "{b} is weg." }),
    'language: "{a} is gone." of nl has no gap {b}, which its translation has',
  ],
  [
    "a translation with a gap whose sentence has none",
    () => language("nl", german.sentences, { "It is gone.": "{b} is weg." }),
    'language: "It is gone." of nl has no gap {b}, which its translation has',
  ],
  [
    "a translation that spells a gap with other characters",
    () => language("nl", german.sentences, { "{größe} is gone.": "{größe} is weg.".normalize("NFD") }),
    "of nl has no gap",
  ],
  [
    "a gap that a sentence has twice",
    () => language("nl", german.sentences, { "{a} is {a}.": "{a}" }),
    "has the gap {a} twice",
  ],
  [
    "two gaps side by side",
    () => language("nl", german.sentences, { "{a}{b} is gone.": "{a}" }),
    "has two gaps without a text between them",
  ],
  [
    "a language given twice",
    () => languages([german, language("DE", german.sentences)]),
    "languages: DE is given twice",
  ],
  ["a fallback that is not offered", () => languages([german], { fallback: french }), "languages: fallback"],
])("%s is refused", (_what, make, sentence) => {
  expect(make).toThrow(sentence);
});

import type { Answer } from "../exchange/answer.ts";
import { refusal as refusalAnswer } from "../answers/makers.ts";
import type { RefusalFormat } from "../answers/refusal-format.ts";
import { isListOf, isObject, needs, needsObject, needsOptions, needsText } from "../arguments.ts";
import { Problem, Refusal } from "../refusals.ts";
import { english } from "./english.ts";
import type { SentenceRules, Sentences } from "./english.ts";
import { lookUp } from "./lookup.ts";
import { OwnSentences, wrongGaps } from "./own-sentences.ts";
import { translated } from "./translate.ts";
import type { Writing } from "./translate.ts";

/** The framework's sentences in one language, made by `language`. */
export interface Language {
  /** The tag of BCP 47, as `Content-Language` has it: `de`, `pt-BR`. */
  readonly tag: string;
  /** The framework's sentences, by their keys. */
  readonly sentences: Sentences;
  /** Sentences of the application's own, by the text that its code has; `{name}` in one stands for any text. */
  readonly own: { readonly [sentence: string]: string };
}

/** The languages of an app, made by `languages`. */
export interface Languages {
  /** For the framework alone. */
  readonly node: LanguagesNode;
}

/** Languages, for the framework. Its function is here, so that an app without languages has no code of it. */
export interface LanguagesNode {
  /** The answer of a refusal in the language of a request. Throws where it cannot be written. */
  readonly written: (answer: Answer, refused: Refusal, how: LanguageChoice) => Answer;
}

/** What of a request its language and its answer depend on. */
interface LanguageChoice {
  /** The lines of `Accept-Language`. */
  readonly accepted: readonly string[];
  /** The request's id. */
  readonly id: string;
  readonly format: RefusalFormat | undefined;
}

/** A refusal in a language. */
interface SpokenRefusal {
  readonly refusal: Refusal;
  /** Says which language it is, and that the request chose it. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Translates one sentence more. */
  readonly say: (sentence: string) => string;
}

const rules: { readonly [Name in keyof SentenceRules]: true } = {
  wrongType: true,
  oneOf: true,
  equal: true,
  notOneOf: true,
  notAny: true,
  bound: true,
  size: true,
  startsWith: true,
  endsWith: true,
  notReady: true,
  subprotocol: true,
};

/**
 * A language of your own, or another table for one that there is.
 *
 * @param tag A tag of BCP 47: `nl`, `pt-BR`.
 * @param sentences Every sentence of the framework's. `{ ...german.sentences, notFound: "…" }` replaces one.
 * @param own Sentences of your refusals and your checks, by the text in your code: `{ "None is left.": "Ausverkauft." }`. A `{name}` in one
 *   stands for any text of a character or more, which its translation has by the same name: `{ "{item} is sold out.": "{item} ist
 *   ausverkauft." }`. A sentence without a gap goes first, then they are tried in their order.
 * @throws TypeError for an invalid tag, for a sentence that is not there, and for a translation with a gap that its sentence has not.
 */
/* @__NO_SIDE_EFFECTS__ */
export function language(tag: string, sentences: Sentences, own: Language["own"] = {}): Language {
  needsText("language: its tag", tag);
  needs(isTag(tag), "language: its tag", tag, 'a tag, like "pt-BR"');
  needsObject("language: its sentences", sentences);
  needsObject("language: its own sentences", own);
  for (const [sentence, translation] of Object.entries(own)) {
    needsText(`language: one of its own sentences of ${tag}`, translation);
    const wrong = wrongGaps(sentence, translation);
    if (wrong !== undefined) throw new TypeError(`language: ${JSON.stringify(sentence)} of ${tag} ${wrong}`);
  }
  const given = sentences as unknown as { readonly [key: string]: unknown };
  for (const key of Object.keys(english)) needsText(`language: the sentence ${key} of ${tag}`, given[key]);
  for (const key of Object.keys(rules)) {
    needs(typeof given[key] === "function", `language: the sentence ${key} of ${tag}`, given[key], "a function");
  }
  return { tag, sentences, own };
}

/** Whether a text is a tag that `Intl` takes. Each refusal in the language needs it: `test` and `de-1` would make them 500s. */
function isTag(text: string): boolean {
  try {
    return /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,7}$/.test(text) && Intl.getCanonicalLocales(text).length > 0;
  } catch {
    return false;
  }
}

/**
 * The languages of an app: the option `languages` of `serve` and `App.make`. A request gets the framework's sentences in the
 * language that its `Accept-Language` prefers, by the lookup of RFC 4647, and in English where it prefers none. Codes, places
 * and log lines stay as they are. Such an answer has `Content-Language` and `Vary: accept-language`.
 *
 * @param offered The languages besides English. One with the tag `en` replaces the English sentences.
 * @param options `fallback` is for a request that prefers none: one of the languages, in place of English.
 * @throws TypeError where a tag is given twice.
 *
 * @example
 * ```ts
 * await serve(routes, { languages: languages([german, french]) });
 * ```
 */
export function languages(offered: readonly Language[], options: { readonly fallback?: Language } = {}): Languages {
  needs(isListOf(offered, isLanguage), "languages: it", offered, "a list of languages");
  needsOptions("languages", options, "fallback");
  const { fallback } = options;
  const speakers = new Map<string, Speaker>();
  for (const one of offered) {
    const tag = one.tag.toLowerCase();
    if (speakers.has(tag)) throw new TypeError(`languages: ${one.tag} is given twice`);
    speakers.set(tag, new Speaker(one));
  }
  const isOffered = fallback === undefined || offered.includes(fallback);
  needs(isOffered, "languages: fallback", fallback, "one of the languages");
  if (!speakers.has("en")) speakers.set("en", new Speaker(undefined));
  const otherwise = speakers.get(fallback?.tag.toLowerCase() ?? "en") as Speaker;
  const written: LanguagesNode["written"] = (answer, refused, { accepted, id, format }) => {
    const { refusal, headers, say } = (lookUp(accepted.join(), speakers) ?? otherwise).spoken(refused);
    const { status, contentType = "", body } = format?.node.write(refusal, id, say) ?? refusalAnswer(refusal);
    return { ...answer, status, contentType, body, headers: [...answer.headers, ...headers] };
  };
  return { node: { written } };
}

function isLanguage(value: unknown): boolean {
  return isObject(value) && typeof value["tag"] === "string" && isObject(value["sentences"]) && isObject(value["own"]);
}

/** One language, or the English that is compiled in. */
class Speaker {
  readonly #language: Language | undefined;
  readonly #tag: string;
  readonly #own: OwnSentences;
  #writing: Writing | undefined = undefined;

  constructor(language: Language | undefined) {
    this.#language = language;
    this.#tag = language?.tag ?? "en";
    this.#own = new OwnSentences(language?.own ?? {});
  }

  spoken(refusal: Refusal): SpokenRefusal {
    const known = new Map<string, string | undefined>();
    // An answer lists a thousand problems, most of which have the same sentence.
    const translate = (sentence: string): string | undefined => {
      if (!known.has(sentence)) known.set(sentence, this.#translated(sentence));
      return known.get(sentence);
    };
    const say = (sentence: string): string => translate(sentence) ?? sentence;
    const { code, message, challenge, headers, problems, more } = refusal;
    const written = problems.map(({ at, code, message }) => new Problem(at, code, say(message)));
    const inLanguage = translate(message);
    const vary = ["vary", "accept-language"] as const;
    return {
      refusal: new Refusal(code, inLanguage ?? message, { challenge, headers, problems: written, more }),
      // An application's own sentence may be in any language.
      headers: inLanguage === undefined ? [vary] : [["content-language", this.#tag], vary],
      say,
    };
  }

  #translated(sentence: string): string | undefined {
    if (typeof sentence !== "string") return undefined;
    const own = this.#own.translated(sentence);
    if (own !== undefined) return own;
    const written = translated(sentence, this.#writer());
    return this.#language === undefined && written !== undefined ? sentence : written;
  }

  #writer(): Writing {
    return (this.#writing ??= writingOf(this.#language));
  }
}

function writingOf(language: Language | undefined): Writing {
  if (language === undefined) return unchanged;
  const or = new Intl.ListFormat(language.tag, { type: "disjunction" });
  return { sentences: language.sentences, joined: (words) => or.format(words) };
}

const same = (): string => "";
/** Finds whether a sentence is the framework's: what is written is not looked at. */
const unchanged: Writing = {
  sentences: {
    ...english,
    wrongType: same,
    oneOf: same,
    equal: same,
    notOneOf: same,
    notAny: same,
    bound: same,
    size: same,
    startsWith: same,
    endsWith: same,
    notReady: same,
    subprotocol: same,
  },
  joined: same,
};

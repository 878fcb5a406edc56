/** The entry `usher-http/languages`: the framework's sentences in the language of a request. */
export { chinese } from "./chinese.ts";
export { french } from "./french.ts";
export { german } from "./german.ts";
export { japanese } from "./japanese.ts";
export { spanish } from "./spanish.ts";
export { language, languages } from "./language.ts";
export type { Language, Languages } from "./language.ts";
export type { BoundKind, SentenceKey, SentenceRules, Sentences, SizeKind, SizeUnit } from "./english.ts";

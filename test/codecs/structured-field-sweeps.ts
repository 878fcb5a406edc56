import type { CorpusRecord, Kind } from "./structured-field-corpus.ts";

/*
 * What the corpus generates: every ASCII character in each place a string, a token and a key have, and sizes at and
 * past each bound. Which characters stand where is RFC 9651 §3.1.2, §3.3.3 and §3.3.4.
 */

const stringCharacter = /^[ !#-[\]-~]$/;
const tokenStart = /^[A-Za-z*]$/;
const tokenCharacter = /^[:/!#$%&'*+\-.^_`|~0-9A-Za-z]$/;
const keyStart = /^[a-z*]$/;
const keyCharacter = /^[a-z0-9_\-.*]$/;

const asciiCharacters: readonly string[] = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));

function record(kind: Kind, text: string, printed: string | undefined): CorpusRecord {
  return { kind, text, printed };
}
function inItem(text: string, reads: boolean, printed = text): CorpusRecord {
  return record("structuredItem", text, reads ? printed : undefined);
}
function inDictionary(text: string, reads: boolean, printed = text): CorpusRecord {
  return record("structuredDictionary", text, reads ? printed : undefined);
}
function inList(text: string, reads: boolean, printed: string): CorpusRecord {
  return record("structuredList", text, reads ? printed : undefined);
}

const characters: readonly CorpusRecord[] = asciiCharacters.flatMap((c) => [
  inItem(`" ${c} "`, stringCharacter.test(c)),
  inItem(`"\\${c}"`, c === '"' || c === "\\"),
  // "a;a" is a token with a parameter.
  inItem(`a${c}a`, tokenCharacter.test(c) || c === ";"),
  inItem(`${c}a`, tokenStart.test(c) || c === " ", `${c}a`.trimStart()),
  inDictionary(`${c}=1`, keyStart.test(c)),
  c === "," ? inDictionary("a,a=1", true, "a=1") : inDictionary(`a${c}a=1`, keyCharacter.test(c) || c === ";"),
  inDictionary(`${c}a=1`, keyStart.test(c) || c === " ", `${c}a=1`.trimStart()),
  c === ";" ? inList("foo; a;a=1", true, "foo;a=1") : inList(`foo; a${c}a=1`, keyCharacter.test(c), `foo;a${c}a=1`),
  inList(`foo; ${c}a=1`, keyStart.test(c) || c === " ", `foo;${c.trim()}a=1`),
]);

function times<A>(count: number, make: (index: number) => A): readonly A[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const many = times(1024, (index) => `a${index}`);
const hundreds = times(256, (index) => `a${index}=1`);
const longKey = "a".repeat(64);

const large: readonly CorpusRecord[] = [
  inDictionary(many.map((name) => `${name}=1`).join(", "), true),
  inDictionary(`${longKey}=1`, true),
  ...[many.join(", "), many.map((name) => `foo;${name}=1`).join(", "), `foo;${hundreds.join(";")}`].map((text) =>
    inList(text, true, text),
  ),
  inList(`foo;${longKey}=1`, true, `foo;${longKey}=1`),
  inList(`(${times(256, String).join(" ")})`, true, `(${times(256, String).join(" ")})`),
  inItem(`"${"=".repeat(1024)}"`, true),
  inItem(`"${'\\"'.repeat(1024)}"`, true),
  inItem("a".repeat(512), true),
  inItem(`:${btoa("a".repeat(16_384))}:`, true),
];

const integers: readonly CorpusRecord[] = times(15, (index) => index + 1).flatMap((length) => [
  inItem("0".repeat(length), true, "0"),
  inItem("1".repeat(length), true),
  inItem("9".repeat(length), true),
]);

const decimals: readonly CorpusRecord[] = times(12, (index) => index + 1).flatMap((whole) =>
  [1, 2, 3].flatMap((fraction) => [
    inItem(`${"0".repeat(whole)}.${"1".repeat(fraction)}`, true, `0.${"1".repeat(fraction)}`),
    inItem(`${"1".repeat(whole)}.${"0".repeat(fraction)}`, true, `${"1".repeat(whole)}.0`),
    inItem(`${"1".repeat(whole)}.${"1".repeat(fraction)}`, true),
    inItem(`${"9".repeat(whole)}.${"9".repeat(fraction)}`, true),
  ]),
);

const tooLong: readonly CorpusRecord[] = ["0", "9"].flatMap((digit) => [
  inItem(`${digit.repeat(15)}.${digit}`, false),
  inItem(`${digit.repeat(12)}.${digit.repeat(4)}`, false),
]);

export const sweeps: readonly CorpusRecord[] = [...characters, ...large, ...integers, ...decimals, ...tooLong];

/** Texts no string, token or key is made of. */
export const badStrings: readonly string[] = asciiCharacters.filter((c) => !/^[ -~]$/.test(c));
export const badTokens: readonly string[] = [
  ...asciiCharacters.filter((c) => !tokenCharacter.test(c)).map((c) => `a${c}a`),
  ...asciiCharacters.filter((c) => !tokenStart.test(c)).map((c) => `${c}a`),
];
export const badKeys: readonly string[] = [
  ...asciiCharacters.filter((c) => !keyCharacter.test(c)).map((c) => `a${c}a`),
  ...asciiCharacters.filter((c) => !keyStart.test(c)).map((c) => `${c}a`),
];

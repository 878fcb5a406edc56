/** The parts of a database server's message that may be logged, tested without a server. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redact } from "../../src/database/failure.ts";
import { rounds } from "../support/wide.ts";

const sql = 'select $1, "No Where", name from users where users.name = $1';

describe("a message of the database server", () => {
  const rows: readonly (readonly [why: string, sentence: string, value: string, told: string])[] = [
    [
      "names of the statement",
      'column "name" of relation "USERS" is not there',
      "x",
      'column "name" of relation "USERS" is not there',
    ],
    ["a name with a blank", 'relation "No Where" does not exist', "x", 'relation "No Where" does not exist'],
    ["a part of a name", 'relation "user" does not exist', "x", 'relation "…" does not exist'],
    ["two names as one", 'relation "name users" does not exist', "x", 'relation "…" does not exist'],
    ["French", "la relation « secret » n’existe pas", "x", "la relation «…» n’existe pas"],
    ["German", "Relation »secret« existiert nicht", "x", "Relation »…« existiert nicht"],
    ["Polish", "relacja „secret” nie istnieje", "x", "relacja „…” nie istnieje"],
    ["not closed", 'relation "secret does not exist', "x", 'relation "…'],
    ["empty", 'zero-length name at or near """"', "x", 'zero-length name at or near """"'],
    [
      "a word of the value that is the statement's too",
      "table users is locked by ann",
      "users of ann",
      "table users is locked by …",
    ],
    ["another case", "no such user: KIM@EXAMPLE.ORG", "kim@example.org", "no such user: …"],
    ["backwards", "no such user: terces", "SECRET", "no such user: …"],
    ["a piece", "no such user: ecre", "secret", "no such user: …"],
    ["a number", "large object 1234 does not exist", "1234", "large object … does not exist"],
    ["a short number", "large object 12 does not exist", "12", "large object … does not exist"],
    ["a short value in a word", "large object 121 does not exist", "12", "large object 121 does not exist"],
    ["a short item of an array", "no stock for pen or 7", '{"pen",NULL,"7"}', "no stock for … or …"],
    ["a short member of JSON", "no stock for pen or 7", '{"item":"pen","some":[1,7]}', "no stock for … or …"],
    ["operators", "operator does not exist: +-*+-*", "+-*+-*", "operator does not exist: …"],
    ["the Turkish İ", "no such user: İSTANBUL", "İstanbul", "no such user: …"],
    ["the Greek sigma", "no such user: ΟΔΟΣ", "οδος", "no such user: …"],
  ];
  it.each(rows)("%s", (_, sentence, value, told) => {
    expect(redact(sentence, sql, [value])).toBe(told);
  });

  it("keeps a name that the server reports in its own field, unless a value is similar", () => {
    const sentence = 'null value in column "left_over"';
    expect(redact(sentence, sql, ["x"], ["left_over"])).toBe(sentence);
    expect(redact(sentence, sql, ["Leftover?", "LEFT_"], ["left_over"])).toBe('null value in column "…"');
  });

  it("is cut off after 500 characters", () => {
    expect(redact("no ".repeat(1000), sql, [])).toBe(`${"no ".repeat(167).slice(0, 500)}…`);
  });

  it("has no four characters of a value, in any place and form", () => {
    const letter = fc.constantFrom(..."abcABC12 _-.$\"'«»„“ ", "\ud83d\ude00", "\u00e9", "\n");
    const value = fc.array(letter, { minLength: 1, maxLength: 30 }).map((letters) => letters.join(""));
    const change = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => text.toUpperCase(),
      (text) => text.toLowerCase(),
      (text) => text.split("").toReversed().join(""),
      (text) => text.slice(3),
      (text) => text.replaceAll('"', '""'),
    );
    const sentence = fc.constantFrom('rel "%"', "%", "no %, % or «%»", "»%« '%", '"%');
    fc.assert(
      fc.property(value, change, sentence, (value, change, sentence) => {
        const told = redact(
          sentence.replaceAll("%", () => change(value)),
          "",
          [value],
        ).toLowerCase();
        const lower = value.toLowerCase();
        for (let at = 0; at + 4 <= lower.length; at++) {
          const piece = lower.slice(at, at + 4);
          // Separators between words, which reveal nothing.
          if (!/[\p{L}\p{N}]/u.test(piece)) continue;
          expect(told).not.toContain(piece);
          expect(told).not.toContain(piece.split("").toReversed().join(""));
        }
      }),
      { numRuns: rounds(3000) },
    );
  });
});

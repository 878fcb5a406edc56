import { describe, expect, it } from "vitest";
import { csvRows } from "../../examples/orders/csv.ts";

/** `2:pen|3` is a row of two fields on line 2; `2!` one whose quotes are wrong. */
function rowsOf(text: string): string[] {
  return [...csvRows(text)].map(({ line, fields }) =>
    fields === undefined ? `${line}!` : `${line}:${fields.join("|")}`,
  );
}

describe("parsing of a CSV file", () => {
  it.each<[what: string, text: string, rows: string[]]>([
    ["nothing", "", []],
    ["a row without a line end", "a,b", ["1:a|b"]],
    ["LF", "a,b\nc,d\n", ["1:a|b", "2:c|d"]],
    ["CRLF", "a,b\r\nc,d\r\n", ["1:a|b", "2:c|d"]],
    ["CR", "a,b\rc,d\r", ["1:a|b", "2:c|d"]],
    ["a blank line between and behind", "a\n\nb\r\n\r\n\n", ["1:a", "3:b"]],
    ["empty fields", ",\na,\n,b\n,,", ["1:|", "2:a|", "3:|b", "4:||"]],
    ["an empty field in quotes, alone", '""', ["1:"]],
    ["a space is a part of a field", " a , b ", ["1: a | b "]],
    ["a comma in quotes", '"a,b",c', ["1:a,b|c"]],
    ["a doubled quote", '"a""b","""",""""""', ['1:a"b|"|""']],
    ["a line end in quotes is kept, and counted", '"a\nb",c\nd\n"e\r\nf"\r\ng', ["1:a\nb|c", "3:d", "4:e\r\nf", "6:g"]],
    ["a quote within a field", 'a"b,c\nd', ["1!", "2:d"]],
    ["a quote behind a space", 'a, "b"\nc', ["1!", "2:c"]],
    ["text behind a closing quote", '"a"b,c\nd', ["1!", "2:d"]],
    ["a quote that is never closed", '"a,b\nc,d\ne', ["1!", "2:c|d", "3:e"]],
    ["a quote closed by the next one's opening", '"a,b\n"c",d\ne', ["1!", "2:c|d", "3:e"]],
    ["a quote alone at the end", 'a\n"', ["1:a", "2!"]],
    ["a wrong row at the end", 'a\nb"', ["1:a", "2!"]],
  ])("%s", (_what, text, rows) => {
    expect(rowsOf(text)).toEqual(rows);
  });
});

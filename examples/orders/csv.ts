/** A row of a CSV file; `fields` is undefined if its quotes are wrong. */
export interface Row {
  /** The line where it begins, counted from 1. */
  readonly line: number;
  readonly fields: readonly string[] | undefined;
}

const lineEnd = /\r\n?|\n/g;
const unquoted = /[^",\r\n]*/y;
const afterField = /,|\r\n?|\n|$/y;

/**
 * The rows of a CSV file (RFC 4180), without blank lines. After a row with wrong quotes it continues on the next line, so
 * that one missing quote does not hide the rest: csv-parse loses them, and counts a CRLF in quotes twice.
 */
export function* csvRows(text: string): Generator<Row, undefined> {
  for (let at = 0, line = 1; at < text.length;) {
    const row = readRow(text, at);
    const end = row?.end ?? afterLine(text, at);
    const isBlank = text[at] === "\n" || text[at] === "\r";
    if (!isBlank) yield { line, fields: row?.fields };
    line += text.slice(at, end).match(lineEnd)?.length ?? 0;
    at = end;
  }
  return undefined;
}

function readRow(text: string, start: number): { readonly fields: string[]; readonly end: number } | undefined {
  const fields: string[] = [];
  for (let at = start; ; at = afterField.lastIndex) {
    const end = endOfField(text, at);
    afterField.lastIndex = end;
    const separator = afterField.exec(text)?.[0];
    if (separator === undefined) return undefined;
    fields.push(text[at] === '"' ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end));
    if (separator !== ",") return { fields, end: afterField.lastIndex };
  }
}

/** The end of a field; its start if the quote is never closed. */
function endOfField(text: string, start: number): number {
  if (text[start] !== '"') {
    unquoted.lastIndex = start;
    unquoted.test(text);
    return unquoted.lastIndex;
  }
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at === -1) return start;
    if (text[at + 1] !== '"') return at + 1;
  }
}

function afterLine(text: string, start: number): number {
  lineEnd.lastIndex = start;
  return lineEnd.test(text) ? lineEnd.lastIndex : text.length;
}

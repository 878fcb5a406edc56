/** What the text of a query says before it is sent (PostgreSQL §4.1). */

/** The facts of one text. */
export interface QueryText {
  readonly sql: string;
  /** The highest `$n`; undefined where only the server can tell. */
  readonly parameters: number | undefined;
  /** Whether another statement follows the first one. */
  readonly hasSecond: boolean;
}

// What ends a statement and what is a parameter, apart from strings, names, dollar quotes and comments. `E''` has escapes. A plain
// string has none, unless the server's standard_conforming_strings is off.
const tokens = new RegExp(
  [
    String.raw`\s+|--[^\n\r]*|/\*`,
    String.raw`[eE]'[^'\\]*(?:(?:''|\\[^])[^'\\]*)*'`,
    String.raw`'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*"`,
    String.raw`\$(?<tag>(?:[A-Za-z_\u0080-\u{10ffff}][A-Za-z0-9_\u0080-\u{10ffff}]*)?)\$|\$(?<place>[0-9]+)`,
    String.raw`[A-Za-z_\u0080-\u{10ffff}][A-Za-z0-9_$\u0080-\u{10ffff}]*|[0-9]+|[^]`,
  ].join("|"),
  "uy",
);
const commentMarks = /\/\*|\*\//g;
/** The body of a function of the SQL standard has statements of its own. */
const atomic = /\bbegin\s+atomic\b/i;

/** Reads a text. */
export function readQueryText(sql: string): QueryText {
  let parameters = 0;
  let depth = 0;
  let hasEnded = false;
  const unknown = { sql, parameters: undefined, hasSecond: false };
  if (atomic.test(sql)) return unknown;
  for (let at = 0; at < sql.length;) {
    tokens.lastIndex = at;
    const found = tokens.exec(sql);
    if (found === null) return unknown;
    const token = found[0];
    const first = token[0] as string;
    const { tag, place } = found.groups as { readonly tag?: string; readonly place?: string };
    at = tokens.lastIndex;
    if (token === "/*") {
      const end = commentEnd(sql, at);
      if (end === undefined) return unknown;
      at = end;
      continue;
    }
    if (isWhiteSpace(first) || token.startsWith("--")) continue;
    if (token === ";" && depth === 0) {
      hasEnded = true;
      continue;
    }
    if (hasEnded) return { sql, parameters: undefined, hasSecond: true };
    // With standard_conforming_strings off it would continue behind `\'`: only the server knows.
    if (first === "'" && token.includes("\\")) return unknown;
    // A quotation that does not end: the server says so.
    if ((first === "'" || first === '"') && token.length === 1) return unknown;
    if (token === "(") depth++;
    else if (token === ")") depth--;
    else if (place !== undefined) parameters = Math.max(parameters, Number(place));
    else if (tag !== undefined) {
      const end = sql.indexOf(token, at);
      if (end === -1) return unknown;
      at = end + token.length;
    }
  }
  return { sql, parameters, hasSecond: false };
}

function isWhiteSpace(character: string): boolean {
  return /\s/.test(character);
}

/** The end of a comment that has begun; comments nest. */
function commentEnd(sql: string, start: number): number | undefined {
  commentMarks.lastIndex = start;
  for (let depth = 1; depth > 0;) {
    const found = commentMarks.exec(sql);
    if (found === null) return undefined;
    depth += found[0] === "/*" ? 1 : -1;
  }
  return commentMarks.lastIndex;
}

// Savepoints are a transaction's own affair; its beginning and its end are not.
const controls =
  /(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/iy;

/** Whether a statement begins or ends a transaction. */
export function controlsTransaction(sql: string): boolean {
  controls.lastIndex = beginningOf(sql);
  return controls.test(sql);
}

// Blanks, empty statements and comments to the end of the line; those between marks hold others (PostgreSQL §4.1.5).
const ignored = /(?:[\s;]|--[^\n\r]*)*/y;
const mark = /\/\*|\*\//g;

/** Where a statement's first word is. */
function beginningOf(sql: string): number {
  for (let at = 0; ; at = endOfComment(sql, at)) {
    ignored.lastIndex = at;
    ignored.test(sql);
    at = ignored.lastIndex;
    if (!sql.startsWith("/*", at)) return at;
  }
}

function endOfComment(sql: string, start: number): number {
  mark.lastIndex = start;
  for (let depth = 0; ;) {
    const found = mark.exec(sql);
    if (found === null) return sql.length;
    depth += found[0] === "/*" ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
}

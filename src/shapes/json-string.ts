/** Where the string that began before `at` ends, or the end of the text. */
export function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === 0x5c) before--;
    if ((quote - before) % 2 === 0) return quote;
  }
  return text.length;
}

/** Whether a text that is JSON otherwise spells half of a surrogate pair with an escape. */
export function escapesLoneSurrogate(text: string): boolean {
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", at)) {
    const unit = escapedAt(text, at);
    at += unit === undefined ? 2 : 6;
    if (unit === undefined || unit < 0xd800 || unit > 0xdfff) continue;
    const next = escapedAt(text, at) ?? 0;
    if (unit > 0xdbff || next < 0xdc00 || next > 0xdfff) return true;
    at += 6;
  }
  return false;
}

function escapedAt(text: string, at: number): number | undefined {
  return text.startsWith("\\u", at) ? Number.parseInt(text.slice(at + 2, at + 6), 16) : undefined;
}

/** Where the string that began before `at` ends, or the end of the text. */
export function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === 0x5c) before--;
    if ((quote - before) % 2 === 0) return quote;
  }
  return text.length;
}

/** Whether a text spells half of a surrogate pair with an escape; of one that is no JSON it may say either. */
export function escapesLoneSurrogate(text: string): boolean {
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", at)) {
    const unit = escapedAt(text, at);
    at += unit === undefined ? 2 : 6;
    if (unit === undefined || !isHalf(unit)) continue;
    const next = escapedAt(text, at) ?? 0;
    if (unit > 0xdbff || !isHalf(next) || next < 0xdc00) return true;
    at += 6;
  }
  return false;
}

/** False for NaN too: four characters that are no digits. */
function isHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function escapedAt(text: string, at: number): number | undefined {
  return text.startsWith("\\u", at) ? Number.parseInt(text.slice(at + 2, at + 6), 16) : undefined;
}

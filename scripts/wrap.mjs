/** Puts text before and after places of a source. */

/** @typedef {{ readonly start: number, readonly end: number, readonly before: string, readonly after: string }} Wrap */

/** @param {string} text @param {readonly Wrap[]} wraps */
export function wrapped(text, wraps) {
  /** @type {{ at: number, text: string, order: number[] }[]} */
  const puts = wraps.flatMap(({ start, end, before, after }, i) => [
    // At one place, ends come before begins; the longer begins first, the shorter ends first.
    { at: start, text: before, order: [1, -end, i] },
    { at: end, text: after, order: [0, -start, -i] },
  ]);
  puts.sort((a, b) => a.at - b.at || compare(a.order, b.order));
  let made = "";
  let at = 0;
  for (const put of puts) {
    made += text.slice(at, put.at) + put.text;
    ({ at } = put);
  }
  return made + text.slice(at);
}

/** @type {(a: number[], b: number[]) => number} */
const compare = (a, b) => a.map((one, i) => one - (b[i] ?? 0)).find((one) => one !== 0) ?? 0;

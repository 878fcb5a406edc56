/** @param {readonly number[]} figures */
export function median(figures) {
  const sorted = figures.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/**
 * The narrowest interval, by order statistics, that holds the median of what was measured with a confidence of 95 %. With fewer
 * than six figures it is their whole range, and the confidence is less.
 *
 * @param {readonly number[]} figures
 */
export function medianInterval(figures) {
  const sorted = figures.toSorted((a, b) => a - b);
  const { length } = sorted;
  // The probability that at most `cut` of them are below the median.
  const below = (cut) => {
    let ways = 1;
    let sum = 0;
    for (let i = 0; i <= cut; i++) {
      sum += ways;
      ways = (ways * (length - i)) / (i + 1);
    }
    return sum / 2 ** length;
  };
  let cut = 0;
  while (cut + 1 < length / 2 && 1 - 2 * below(cut + 1) >= 0.95) cut++;
  return { low: sorted[cut], high: sorted[length - 1 - cut], confidence: 1 - 2 * below(cut) };
}

/** The list, rotated by one in each round, so that no candidate is always first or last. */
export function rotated(list, by) {
  const at = by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

/** A figure with three significant digits: `0.123`, `12.3`, `1,234`. */
export function digits(figure) {
  if (figure === undefined || Number.isNaN(figure)) return "–";
  if (Math.abs(figure) >= 100) return Math.round(figure).toLocaleString("en");
  return figure.toFixed(Math.abs(figure) >= 10 ? 1 : 2);
}

/** `12.3 (11.8–12.9)`: median, minimum and maximum. */
export function spread(figures) {
  return `${digits(median(figures))} (${digits(Math.min(...figures))}–${digits(Math.max(...figures))})`;
}

/** A markdown table. @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, i) => (i === 0 ? "---" : "---:"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

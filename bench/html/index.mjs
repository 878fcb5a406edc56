import { html as honoHtml } from "hono/html";
import { html as usherHtml } from "usher-http";
import { bars, section } from "../harness/series.mjs";
import { digits, median, rotated, table } from "../harness/figures.mjs";

/** Every tenth has what is escaped. */
const orders = Array.from({ length: 100 }, (_, id) => {
  return { id, item: id % 10 === 0 ? `<b>"pen" & ${id}</b>` : `pen no. ${id}`, kind: id % 7 === 0 ? "none" : "some" };
});

const entities = new Map(Object.entries({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }));
/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"']/g, (one) => entities.get(one) ?? one);

/** @type {Readonly<Record<string, () => string>>} */
const candidates = {
  "concatenation by hand": () => {
    const rows = orders.map(({ id, item, kind }) => {
      return `<tr class="${escaped(kind)}"><td><a href="/orders/${id}">${id}</a></td><td>${escaped(item)}</td></tr>`;
    });
    return `<title>${escaped("Orders")}</title><table>${rows.join("")}</table>`;
  },
  usher: () => {
    const rows = orders.map(({ id, item, kind }) => {
      return usherHtml`<tr class="${kind}"><td><a href="/orders/${id}">${id}</a></td><td>${item}</td></tr>`;
    });
    return String(usherHtml`<title>${"Orders"}</title><table>${rows}</table>`);
  },
  Hono: () => {
    const rows = orders.map(({ id, item, kind }) => {
      return honoHtml`<tr class="${kind}"><td><a href="/orders/${id}">${id}</a></td><td>${item}</td></tr>`;
    });
    // oxlint-disable-next-line typescript/no-base-to-string
    return String(honoHtml`<title>${"Orders"}</title><table>${rows}</table>`);
  },
};

/** A page of 100 rows from templates, in process. @param {{ quick: boolean }} options */
export async function run({ quick }) {
  const [rounds, pages] = quick ? [3, 500] : [15, 3000];
  const names = Object.keys(candidates);
  /** @type {Record<string, number[]>} */
  const found = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds + 2; round++) {
    for (const name of rotated(names, round)) {
      const micros = cpuOf(candidates[name], pages);
      // The first two are to compile.
      if (round > 1) found[name].push(micros);
    }
  }
  const byHand = median(found["concatenation by hand"]);
  const rows = names.map((name) => {
    const micros = median(found[name]);
    return [name, digits(micros), digits(micros / byHand), digits(candidates[name]().length / 1000)];
  });
  return section(
    [
      "## Pages",
      `A page of 100 rows with 401 values, one in ten of the texts with characters to escape. CPU time of a page; rounds: ${rounds}.`,
      table(["", "µs a page", "of by hand", "kB"], rows),
    ],
    [bars({ title: "A page of 100 rows", unit: "µs", better: "less", baseline: names[0] }, { "": found })],
  );
}

/** Microseconds of CPU. @param {() => string} make @param {number} pages */
function cpuOf(make, pages) {
  const before = process.cpuUsage();
  let bytes = 0;
  for (let i = 0; i < pages; i++) bytes += Buffer.byteLength(make());
  const { user, system } = process.cpuUsage(before);
  return bytes === 0 ? Number.NaN : (user + system) / pages;
}

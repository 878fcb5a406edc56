/**
 * Compares this build with that of a commit, in pairs: `npm run bench -- --against <commit>`. Both are loaded in turns on Node,
 * with and without access lines, over the network and over connections in memory.
 */
import { digits, median, medianInterval, rotated, table } from "../harness/figures.mjs";
import { fresh } from "../harness/fresh.mjs";
import { candidates } from "../server/candidates.mjs";
import { Process } from "../server/processes.mjs";
import { measured, playRound } from "../server/round.mjs";
import { builtWorktree } from "./worktree.mjs";

const here = new URL("../../", import.meta.url);
const kinds = ["usher", "usher-logged"];

/**
 * @param {string} commit
 * @param {{ quick: boolean, rounds?: number | undefined, bound: number }} options `bound` is the ratio of a regression.
 * @returns {Promise<{ section: string, isSlower: boolean }>}
 */
export async function compare(commit, { quick, rounds = quick ? 5 : 9, bound }) {
  const size = quick ? { count: 6000, slices: 4, warmUp: 3000 } : { count: 40_000, slices: 20, warmUp: 10_000 };
  const before = builtWorktree(commit);
  /** @type {Map<string, number[]>} */
  const ratios = new Map();
  const note = (name, ratio) => ratios.set(name, [...(ratios.get(name) ?? []), ratio]);
  try {
    for (let round = 0; round < rounds; round++) {
      await overNetwork(before.url, { ...size, round }, note);
      await inMemory(before.url, round, quick ? 250 : 1000, note);
    }
  } finally {
    before.close();
  }
  const verdicts = [...ratios].map(([name, each]) => verdictOf(name, each, bound));
  return { section: report(before.hash, rounds, bound, verdicts), isSlower: verdicts.some((one) => one.isSlower) };
}

/** The CPU of a request, in one round in which both are loaded in turns. */
async function overNetwork(before, size, note) {
  const builds = { before, now: here };
  const both = Object.entries(builds).flatMap(([build, url]) =>
    kinds.map((who) => [`${build} ${who}`, { ...candidates[who], who, url }]),
  );
  const all = Object.fromEntries(both);
  const launch = (name, stderr) => {
    const { who, url } = all[name];
    return new Process(new URL("bench/server/serve.mjs", url).href, [who], { stderr, execArgv: ["--expose-gc"] });
  };
  const played = await playRound({ ...size, candidates: all, launch });
  for (const who of kinds) {
    for (const [which, { name }] of Object.entries(measured)) {
      const cpu = (build) => played.get(`${build} ${who}`).used[which].cpu;
      note(`${name}, ${candidates[who].name}`, cpu("now") / cpu("before"));
    }
  }
}

/** The time of a request without the kernel. The one that begins changes from round to round. */
async function inMemory(before, round, ms, note) {
  for (const who of kinds) {
    const options = { execArgv: ["--expose-gc"], stderr: /** @type {const} */ ("ignore") };
    for (const [which, { name }] of Object.entries(measured)) {
      const time = (url) => fresh(new URL("bench/server/in-memory.mjs", url), [who, which, ms], options);
      const times = new Map();
      for (const url of rotated([before, here], round)) times.set(url, await time(url));
      note(`${name}, ${candidates[who].name}, in memory`, times.get(here) / times.get(before));
    }
  }
}

const minConfidence = 0.9;

/** Slower where the median is beyond the bound, and an interval of the median that can be trusted has no 1. */
export function verdictOf(name, ratios, bound) {
  const { low, high, confidence } = medianInterval(ratios);
  const ratio = median(ratios);
  const isSlower = ratio > bound && low > 1 && confidence >= minConfidence;
  return { name, ratio, low, high, confidence, isSlower };
}

function report(hash, rounds, bound, verdicts) {
  const percent = `${Math.round(100 * verdicts[0].confidence)} %`;
  const rows = verdicts.map(({ name, ratio, low, high, isSlower }) => {
    return [name, digits(ratio), `${digits(low)}–${digits(high)}`, isSlower ? "**slower**" : ""];
  });
  const slower = verdicts.filter(({ isSlower }) => isSlower).length;
  return [
    `## Against ${hash.slice(0, 12)}`,
    `CPU of a request now, to that commit: ${rounds} rounds, both in each of them, with the benchmarks and packages of now. Slower is a ` +
      `median above ${bound}, whose interval (${percent}) is above 1: five rounds at least.`,
    table(["", "median ratio", `interval (${percent})`, ""], rows),
    slower === 0 ? "Nothing is slower." : `${slower} of ${verdicts.length} are slower.`,
  ].join("\n\n");
}

/**
 * Counts what a function does, and not how long it takes: how often each piece of our own source ran, by V8's block counts, and
 * how much the language's functions looked at. The same run counts the same on any machine.
 *
 * What is not seen: two long texts that are compared by `===`, and a text that is put together and looked at in turns, which V8
 * copies each time.
 */
import { Session } from "node:inspector";
import type { Profiler } from "node:inspector";
import { countNatives } from "./natives.ts";
import type { Work } from "./natives.ts";

const mostRuns = 10;
const session = new Session();
let isStarted = false;

/**
 * Begins to count. Only a function that V8 compiles after this has a count for each of its blocks, so that what is counted is
 * imported later.
 */
export function startCounting(): void {
  if (isStarted) return;
  isStarted = true;
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
}

/** What the language's functions looked at and threw in a run. */
export function countWork(run: () => unknown): Promise<Work> {
  return agreed(
    () => countRun(run),
    (one, other) => one.units === other.units && one.thrown === other.thrown,
  );
}

/**
 * Counts until two runs have the same count, in turn or not. A run may have a timer of another app in it, or draw random numbers for
 * later runs, and V8 sometimes loses counts. On a busy machine every other run has a timer in it.
 */
export async function agreed<Count>(
  count: () => Promise<Count>,
  isSame: (one: Count, other: Count) => boolean = Object.is,
): Promise<Count> {
  const before: Count[] = [];
  while (before.length < mostRuns) {
    const next = await count();
    if (before.some((one) => isSame(one, next))) return next;
    before.push(next);
  }
  throw new Error(`no two of ${mostRuns} runs did the same`);
}

/** The same of a single run, which may have done some of it for others. */
export async function countRun(run: () => unknown): Promise<Work> {
  const work: Work = { units: 0, thrown: 0 };
  const stop = countNatives(work);
  try {
    const value = run();
    if (value instanceof Promise) await value;
  } finally {
    stop();
  }
  return work;
}

/** The characters of our source that ran in one run, each counted as often as it did. */
export async function countSource(run: () => unknown): Promise<number> {
  takeSource();
  const value = run();
  if (value instanceof Promise) await value;
  return takeSource();
}

/** The source that ran since this was last asked. */
function takeSource(): number {
  let taken = 0;
  session.post("Profiler.takePreciseCoverage", (failed, { result }) => {
    if (failed !== null) throw failed;
    for (const { url, functions } of result) {
      if (/\/(?:src|adapters|node_modules\/valibot)\//.test(url)) for (const one of functions) taken += ranOf(one);
    }
  });
  return taken;
}

/** Ranges come outermost first, and a piece of source ran as often as the innermost of its ranges says. */
function ranOf({ ranges }: Profiler.FunctionCoverage): number {
  const open: Profiler.CoverageRange[] = [];
  let ran = 0;
  for (const range of ranges) {
    while (open.length > 0 && (open.at(-1) as Profiler.CoverageRange).endOffset <= range.startOffset) open.pop();
    const length = range.endOffset - range.startOffset;
    ran += length * (range.count - (open.at(-1)?.count ?? 0));
    open.push(range);
  }
  return ran;
}

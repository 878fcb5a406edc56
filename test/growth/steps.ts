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

export interface Steps {
  /** Characters of our source that ran, each as often as it did. */
  readonly source: number;
  /** Characters and items that the language's functions looked at or copied. */
  readonly natives: number;
  /** Calls of such functions that threw. */
  readonly thrown: number;
}

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

/**
 * The steps of a run. What one run in many does for those behind it, as to draw random numbers, is not counted: it runs until
 * two runs agree.
 */
export async function countSteps(run: () => unknown): Promise<Steps> {
  let last = await countOnce(run);
  for (let runs = 1; runs < mostRuns; runs++) {
    const steps = await countOnce(run);
    if (steps.source === last.source && steps.natives === last.natives && steps.thrown === last.thrown) return steps;
    last = steps;
  }
  throw new Error(`no two of ${mostRuns} runs took the same steps`);
}

async function countOnce(run: () => unknown): Promise<Steps> {
  const work: Work = { units: 0, thrown: 0 };
  takeSource();
  const stop = countNatives(work);
  try {
    const value = run();
    if (value instanceof Promise) await value;
  } finally {
    stop();
  }
  return { source: takeSource(), natives: work.units, thrown: work.thrown };
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

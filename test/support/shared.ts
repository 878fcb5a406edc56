import { filesByCost } from "./files-by-cost.ts";
import { run } from "./which-run.ts";
import { isWide, wideFiles } from "./wide.ts";

/**
 * The test files that share processes, each of which loads the sources once: to start a process and to load the sources takes
 * 0.6 s of processor time, more than most files' tests. Every file that is not named here shares.
 *
 * These count the sockets, timers or bytes of the process (`memory.ts`), which most files would change. They leave as many as they
 * found, so they share processes with one another.
 */
const counting: readonly string[] = [
  "**/taken-over-model",
  "adapters/node/{connections,event-faults,families,faults,followers-model,half-closed,heads,idle-connections}",
  "adapters/node/{kept-connections,late-bodies,lingering,opened-in-stop,slow-clients,upgrade-faults}",
  "adapters/{compress/kept,jwt/heads}",
  "adapters/postgres/{housekeeping,lied-to,pool-model,prepared,session-table}",
  "adapters/whatwg/feeds",
  // The timers of its clock: a request of another file that is not over keeps that of the deadlines.
  "adapters/workers/{left-work,unheard}",
  "events/bounds-again",
  "logging/request-lines",
  "models/!(ends|ends-over-http2)",
  "security/{rate,session}-model",
  "telemetry/otlp",
];

/** A process each. */
const own: readonly string[] = [
  // Their tests run at once: the end of one ends the raw clients of all, where another file has loaded what does that.
  "conformance/{bun,deno,node-*,whatwg,workerd}",
  // It gives its process SIGTERM, which ends one that has a browser.
  "adapters/node/stopping",
  // They change what all share: methods of classes, what is global, the modules that are loaded.
  "**/last-net",
  "app/broken-surroundings",
  "growth/*",
  // They count the requests of their process. A handler that never answers, as other files have them, is one for ever.
  "models/{ends,ends-over-http2}",
  // The instruments of a process are made once, by whichever file measures first.
  "{guides/overload,telemetry/metrics,telemetry/metrics-again}",
  "package/wrong-arguments",
  // It reads the default destination of lines, which a listener replaces.
  "testing/quiet",
];

/** They reset modules, and load sources again: what Node has loaded stays. Vite loads the sources in their processes. */
const resetting: readonly string[] = ["adapters/deno/hush", "logging/pretty", "logging/worker-console"];

const paths = (files: readonly string[]): readonly string[] => files.map((file) => `test/${file}.test.ts`);

export const alone = paths(own);
export const counted = paths(counting);
export const reset = paths(resetting);
export const shared: readonly string[] = ["test/**/*.test.ts"];

/** What this run leaves to another one, as paths from `root`. */
export function leftOut(root: string): readonly string[] {
  const wide = isWide ? [] : paths(wideFiles);
  if (run !== "quick" && run !== "rest") return wide;
  const { starting, soaking, others } = filesByCost(root);
  return run === "quick" ? [...wide, ...starting, ...soaking] : [...wide, ...others];
}

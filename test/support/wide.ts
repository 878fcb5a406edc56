import { run } from "./which-run.ts";

/**
 * What only the wide run tries: `npm run test:wide`, and `bash .ci/run --wide`. The run of all tests is made for each commit, and is to end in
 * eight minutes. So it tries each behavior on each listener, and leaves to the wide one what differs in nothing but a version or a seed:
 * the Nodes before the newest, more rounds of what is random, `node:http` as Bun and Deno have it, tools of others.
 */
export const isWide = run === "wide";

/** The rows of each run; the wide one has some more. */
export function rows<A>(each: readonly A[], wide: readonly A[]): readonly A[] {
  return isWide ? [...each, ...wide] : each;
}

/** How often something random is tried: a third of what the wide run does. */
export function rounds(wide: number): number {
  return isWide ? wide : Math.ceil(wide / 3);
}

/** The test files of the wide run alone. */
export const wideFiles: readonly string[] = [
  // How the benchmarks measure, not what they measure.
  "bench/{against,observed,soak}",
  // A machine that takes servers, databases and connections away for seconds.
  "security/idempotency-chaos",
  // The site of `npm run docs`; `npm run docs:check` is in each run.
  "docs/site",
  // `usher-http/node` where `node:http` is another runtime's.
  "adapters/node/other-runtimes",
  "conformance/node-on-{bun,deno}",
  // The newest Node's is in each run; the tests of `usher-http/node` run on the current Node, which may be the oldest.
  "conformance/node-oldest",
  // Tools and packages of others, of more than one version.
  "adapters/node/foreign-clients",
  "adapters/node/socket-io",
  "adapters/postgres/pgbouncer",
  "package/opentelemetry",
  "guides/jest",
  "telemetry/{generations,instrumented}",
];

import { worker } from "../../../adapters/workers/index.ts";
import { configurations } from "../app/configurations.ts";
import type { Configuration } from "../case.ts";

/** Set where the program is put together. */
declare const CONFIGURATION: Configuration;

const { routes, options } = configurations[CONFIGURATION];

// oxlint-disable-next-line import/no-default-export -- what a Worker's module exports
export default worker(routes, { ...options, behindCloudflare: true });

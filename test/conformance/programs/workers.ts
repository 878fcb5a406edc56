import { worker } from "../../../adapters/workers/index.ts";
import { configurations } from "../app/configurations.ts";
import type { Configuration } from "../case.ts";

// A module of each Worker's own. TypeScript must not look for it by this name.
const module: string = "configuration";
const { default: name } = (await import(module)) as { readonly default: Configuration };
const { routes, options } = configurations[name];

// oxlint-disable-next-line import/no-default-export -- what a Worker's module exports
export default worker(routes, { ...options, behindCloudflare: true });

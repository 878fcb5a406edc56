import { Overload, Proxies } from "../../../src/index.ts";
import type { OverloadOptions } from "../../../src/index.ts";
import type { ServeOptions } from "../../../src/server/options.ts";

/** The options of a server in another process, as JSON: an option that carries code is what its value is made of. */
export interface SpawnOptions extends Omit<ServeOptions, "overload" | "trustedProxies"> {
  readonly overload?: OverloadOptions;
  readonly trustedProxies?: readonly string[];
}

/** The options of `serve`, in the process of the server. */
export function serveOptions({ overload, trustedProxies, ...others }: SpawnOptions): ServeOptions {
  return {
    ...others,
    ...(overload !== undefined && { overload: Overload.make(overload) }),
    ...(trustedProxies !== undefined && { trustedProxies: Proxies.make(trustedProxies) }),
  };
}

/** The deviations of each target, by its name. */
import { bun } from "./bun.ts";
import { deno } from "./deno.ts";
import type { Deviations } from "./deviation.ts";
import { fetch } from "./fetch.ts";
import { http2, http2OnDeno } from "./http2.ts";
import { newestNode, nodeOnBun, nodeOnDeno, oldestNode } from "./node-http.ts";
import { whatwg } from "./whatwg.ts";
import { workerd } from "./workerd.ts";

export const deviations: { readonly [target: string]: Deviations } = {
  fetch,
  http2,
  "node-oldest": oldestNode,
  "node-newest": newestNode,
  "node-on-bun": nodeOnBun,
  "node-on-deno": nodeOnDeno,
  bun,
  deno,
  "http2-on-deno": http2OnDeno,
  workerd,
  whatwg,
};

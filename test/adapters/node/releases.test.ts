/** What a request acquired is released once by `usher-http/node`, on Node and on the `node:http` of Bun and Deno. */
import { describe } from "vitest";
import { describeReleases } from "../../support/spawned/releases.ts";
import { starts } from "./spawned.ts";

describe.each(starts)("on %s", (_runtime, start) => {
  describeReleases(start);
});

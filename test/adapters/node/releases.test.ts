/** Releases after a request, deadlines, limits, and what is not awaited, by `usher-http/node`, on Node and on the `node:http` of Bun and Deno. */
import { describe } from "vitest";
import { describeDeadlines } from "../../support/spawned/deadlines.ts";
import { describeOverload } from "../../support/spawned/overload.ts";
import { describeReleases } from "../../support/spawned/releases.ts";
import { describeUnawaited } from "../../support/spawned/unawaited.ts";
import { starts } from "./spawned.ts";

describe.each(starts)("on %s", (_runtime, start) => {
  describeReleases(start);
  describeDeadlines(start);
  describeOverload(start);
  describeUnawaited(start);
});

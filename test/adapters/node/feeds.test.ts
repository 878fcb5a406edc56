/** Event streams of `usher-http/node` whose clients misbehave: on Node, and on the `node:http` of Bun and of Deno. */
import { describe } from "vitest";
import { describeFeeds } from "../../support/spawned/feeds.ts";
import { starts } from "./spawned.ts";

describe.each(starts)("on %s", (_runtime, start) => {
  describeFeeds(start);
});

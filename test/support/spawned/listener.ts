import { describe } from "vitest";
import { isWide } from "../wide.ts";
import { describeAnswers } from "./answers.ts";
import { describeBearing } from "./bearing.ts";
import { describeBodies } from "./bodies.ts";
import { describeClients } from "./clients.ts";
import { describeDeadlines } from "./deadlines.ts";
import { describeFeeds } from "./feeds.ts";
import { describeHolding } from "./holding.ts";
import { describeListening } from "./listening.ts";
import { describeMemory } from "./memory.ts";
import { describeOverload } from "./overload.ts";
import { describeReleases } from "./releases.ts";
import type { Start } from "./server.ts";
import { describeSockets } from "./sockets.ts";
import { describeStopping } from "./stopping.ts";
import { describeUnawaited } from "./unawaited.ts";

interface Runtime {
  /** Whether it takes a request before the one in front of it is answered. */
  readonly pipelines?: boolean;
  /** Whether it alone can be rid of some clients, with its process. */
  readonly isPlatforms?: boolean;
}

/** What listeners have in common, whatever runtime they are written for. */
export function describeListener(start: Start, { pipelines = true, isPlatforms = false }: Runtime = {}): void {
  const parts = {
    answers: () => describeAnswers(start),
    bearing: () => describeBearing(start),
    bodies: () => describeBodies(start),
    clients: () => describeClients(start),
    deadlines: () => describeDeadlines(start, pipelines),
    feeds: () => describeFeeds(start, isPlatforms),
    listening: () => describeListening(start),
    overload: () => describeOverload(start),
    releases: () => describeReleases(start),
    sockets: () => describeSockets(start),
    stopping: () => describeStopping(start),
    unawaited: () => describeUnawaited(start),
    holding: () => describeHolding(start, isPlatforms),
    // Two thousand clients are six seconds of processor time.
    ...(isWide ? { memory: () => describeMemory(start) } : {}),
  };
  // What the tests of a part share is ended with it.
  describe.each(Object.entries(parts))("%s", (_name, describePart) => {
    describePart();
  });
}

/** What `usher-http/bun` has in common with every listener, on a real bun. */
import { describeAnswers } from "../../support/spawned/answers.ts";
import { describeBearing } from "../../support/spawned/bearing.ts";
import { describeBodies } from "../../support/spawned/bodies.ts";
import { describeClients } from "../../support/spawned/clients.ts";
import { describeDeadlines } from "../../support/spawned/deadlines.ts";
import { describeFeeds } from "../../support/spawned/feeds.ts";
import { describeHolding } from "../../support/spawned/holding.ts";
import { describeListening } from "../../support/spawned/listening.ts";
import { describeMemory } from "../../support/spawned/memory.ts";
import { describeOverload } from "../../support/spawned/overload.ts";
import { describeReleases } from "../../support/spawned/releases.ts";
import { describeSockets } from "../../support/spawned/sockets.ts";
import { describeStopping } from "../../support/spawned/stopping.ts";
import { isWide } from "../../support/wide.ts";
import { start } from "./start.ts";

describeAnswers(start);
describeBearing(start);
describeBodies(start);
describeClients(start);
describeDeadlines(start, false);
describeFeeds(start);
describeListening(start);
describeOverload(start);
describeReleases(start);
describeSockets(start);
describeStopping(start);
describeHolding(start);
// Two thousand clients are six seconds of processor time.
if (isWide) describeMemory(start);

/** Run by Bun: serves what the tests of the last net break. */
import { serve } from "../../../adapters/bun/index.ts";
import { EventStreams } from "../../../src/server/lifecycle.ts";
import { raising } from "../../support/spawned/raising.ts";

await raising(serve, {}, { "the end of a stream": [EventStreams.prototype, "remove"] });

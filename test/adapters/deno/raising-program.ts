/** Run by Deno: serves what the tests of the last net break. */
import { InFlight } from "../../../adapters/deno/respond.ts";
import { serve } from "../../../adapters/deno/index.ts";
import { raising } from "../../support/spawned/raising.ts";

await raising(
  serve,
  {},
  {
    "the end of a stream": [InFlight.prototype, "remove"],
    "the end of an answer": [InFlight.prototype, "remove"],
  },
);

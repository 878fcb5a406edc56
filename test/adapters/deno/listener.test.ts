/** The tests that `usher-http/deno` shares with every listener, on a real deno. */
import { describeListener } from "../../support/spawned/listener.ts";
import { start } from "./start.ts";

describeListener(start, { isPlatforms: true });

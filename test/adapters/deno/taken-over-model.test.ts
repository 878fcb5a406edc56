/** The WebSockets of `usher-http/deno` compared with their model. */
import { describeTakenOver } from "../../support/taken-over/spawned.ts";
import { start } from "./start.ts";

describeTakenOver(() => start({}, "taken-over-program.ts"), { closesFirst: true });

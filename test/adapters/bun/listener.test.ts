/** The tests that `usher-http/bun` shares with every listener, on a real bun. */
import { describeListener } from "../../support/spawned/listener.ts";
import { start } from "./start.ts";

describeListener(start, { pipelines: false });

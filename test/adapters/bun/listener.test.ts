/** What `usher-http/bun` has in common with every listener, on a real bun. */
import { describeListener } from "../../support/spawned/listener.ts";
import { start } from "./start.ts";

describeListener(start, { pipelines: false });

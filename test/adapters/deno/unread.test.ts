/** Clients of `usher-http/deno` that read nothing, on a real deno. */
import { describeUnread } from "../../support/spawned/unread.ts";
import { start } from "./start.ts";

// Deno cannot end the connection of a WebSocket.
describeUnread((options) => start(options, "unread-program.ts"), ["whole", "stream"]);

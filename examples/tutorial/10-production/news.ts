import { Broadcast } from "usher-http";

/** Wakes the streams when the orders have changed: one event that waits for a stream is enough. */
export const news = Broadcast.create<never>({ depth: 1, behind: "skip" });

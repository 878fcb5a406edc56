import { Broadcast } from "usher-http";

/** Wakes the streams when the orders have changed. */
export const news = Broadcast.create<never>();

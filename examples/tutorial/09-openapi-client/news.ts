import { Dep } from "usher-http";
import type { Hub } from "usher-http";

/** Wakes the streams when the orders have changed. */
export const news = Dep.ofResource<Hub<never, void>>("news");

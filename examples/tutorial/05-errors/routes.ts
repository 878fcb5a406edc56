import { getPrice } from "./items.ts";
import { orderRoutes } from "./orders.ts";

export const routes = [getPrice, ...orderRoutes] as const;

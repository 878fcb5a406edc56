import { followOrders } from "./feed.ts";
import { getPrice } from "./items.ts";
import { orderRoutes } from "./orders.ts";
import { page } from "./page.ts";
import { signInRoutes } from "./sign-in.ts";

export const routes = [getPrice, ...orderRoutes, followOrders, ...signInRoutes, page] as const;

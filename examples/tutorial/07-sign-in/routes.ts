import { getPrice } from "./items.ts";
import { orderRoutes } from "./orders.ts";
import { signInRoutes } from "./sign-in.ts";

export const routes = [getPrice, ...orderRoutes, ...signInRoutes] as const;

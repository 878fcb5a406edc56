import { getPrice } from "./items.ts";
import { orderRoutes } from "./orders.ts";
import { signIn } from "./sign-in.ts";

export const routes = [getPrice, ...orderRoutes, signIn] as const;

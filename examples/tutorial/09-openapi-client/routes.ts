import { Files } from "usher-http/files";
import { followOrders } from "./feed.ts";
import { getPrice } from "./items.ts";
import { orderRoutes } from "./orders.ts";
import { signIn } from "./sign-in.ts";

const pages = Files.directory("public", { index: "index.html" });

export const routes = [getPrice, ...orderRoutes, followOrders, signIn, ...pages] as const;

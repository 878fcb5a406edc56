import { getPrice } from "./items.ts";

export const routes = [getPrice] as const;

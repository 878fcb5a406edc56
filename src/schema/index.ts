export { named } from "./valibot.ts";
export { date, instant, int64, uuid } from "./built-in.ts";
export type { JsonOf, Shape, ValueOf } from "./valibot.ts";

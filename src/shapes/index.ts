export { named } from "./named.ts";
export { date, instant, int64, uuid } from "./ready-made.ts";
export type { JsonOf, Shape, ValueOf } from "./shape.ts";

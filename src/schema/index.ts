export { named } from "./valibot.ts";
export { described } from "./described.ts";
export type { JsonSchema, JsonSchemas } from "./described.ts";
export { date, instant, int64, uuid } from "./built-in.ts";
export type { StandardSchema } from "./standard.ts";
export type { JsonOf, Shape, ValueOf } from "./valibot.ts";

/** Schemas, and the readers that are compiled of them. */
export { instant } from "../schema/built-in.ts";
export { compileReader } from "../schema/read.ts";
export type { JsonReader } from "../schema/read.ts";
export type { AnyStandard, OutputOf, StandardSchema } from "../schema/standard.ts";
export type { AnyShape, Shape, ValueOf } from "../schema/valibot.ts";

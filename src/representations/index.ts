/** The entry `usher-http/conditional`. */
export * as Conditional from "./public.ts";
export type { Precondition } from "./conditional.ts";
export type { Validators } from "./preconditions.ts";
export type { RangedOptions, RangedSource } from "./ranges.ts";

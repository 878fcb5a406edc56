/** The namespace `Conditional`. */
export {
  answer,
  precondition,
  preconditionFailed,
  preconditionRequired,
  requiredPrecondition,
  tagJson,
  validators,
} from "./conditional.ts";
export type { Precondition, Validators } from "./conditional.ts";
export { rangeNotSatisfiable, ranged } from "./ranges.ts";
export type { RangedOptions, RangedSource } from "./ranges.ts";

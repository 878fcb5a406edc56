/** The `Body` namespace: a body read as it arrives. */
export { bodyRefusal as refusal } from "./body-source.ts";
